-- The run that this one repeats; NULL where it repeats none.
ALTER TABLE runs ADD COLUMN retry_of TEXT;
CREATE INDEX runs_retry_of ON runs (retry_of) WHERE retry_of IS NOT NULL;

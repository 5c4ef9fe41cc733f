-- Child runs: the id of the run that called, and the path of its node. NULL for a run that was started by hand.
ALTER TABLE runs ADD COLUMN parent TEXT;
ALTER TABLE runs ADD COLUMN parent_node TEXT;
CREATE INDEX runs_parent ON runs (parent) WHERE parent IS NOT NULL;

-- How often somebody has asked for the run's cancel: a parent that asks again after a crash must not ask once more.
ALTER TABLE runs ADD COLUMN cancels INTEGER NOT NULL DEFAULT 0;

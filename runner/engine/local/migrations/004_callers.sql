-- Who waits for a place on behalf of a run that it calls: two that wait for each other can be told from two that do not.
ALTER TABLE places ADD COLUMN caller TEXT;

-- Runs of one group do not overlap. A place is a process's turn in a group: first come, first served, free when its process has
-- died. run is NULL while the run is not made yet; gone tells that a newer run took the place of this one.
ALTER TABLE runs ADD COLUMN grp TEXT;
CREATE INDEX runs_grp ON runs (grp) WHERE grp IS NOT NULL;

CREATE TABLE places (
	id    INTEGER PRIMARY KEY AUTOINCREMENT,
	grp   TEXT    NOT NULL,
	epoch INTEGER NOT NULL,
	run   TEXT,
	gone  INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX places_grp ON places (grp, id);

-- One row: who this store is. The file "store" beside the database repeats it, so that an emptied or foreign database is noticed.
CREATE TABLE store (one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL) STRICT;

-- Programs, by the hash that journals pin. sum is the SHA-256 of the unpacked body.
CREATE TABLE definitions (hash TEXT PRIMARY KEY, sum BLOB NOT NULL, packed INTEGER NOT NULL, body BLOB NOT NULL) STRICT;

-- Source texts, for people. hash is the SHA-256 of the unpacked body.
CREATE TABLE sources (hash BLOB PRIMARY KEY, packed INTEGER NOT NULL, body BLOB NOT NULL) STRICT;

CREATE TABLE runs (
	key        INTEGER PRIMARY KEY,
	id         TEXT    NOT NULL UNIQUE,
	header     BLOB    NOT NULL,
	definition TEXT    NOT NULL REFERENCES definitions (hash),
	source     BLOB    REFERENCES sources (hash),
	workflow   TEXT    NOT NULL,
	created    INTEGER NOT NULL,           -- nanoseconds since 1970, like all times here
	ended      INTEGER NOT NULL DEFAULT 0, -- 0: not yet
	status     TEXT    NOT NULL,
	summary    BLOB,                       -- of the end, bounded
	driven     INTEGER NOT NULL DEFAULT 0, -- 1: a driver has begun to carry out its commands
	owner      INTEGER,                    -- the epoch that drives it, or drove it and died; NULL: nobody
	clean      INTEGER NOT NULL DEFAULT 1, -- 0: driven now, or its driver died
	seq        INTEGER NOT NULL,           -- number of the last event
	link       BLOB    NOT NULL            -- of the last batch
) STRICT;
CREATE INDEX runs_created ON runs (created);
CREATE INDEX runs_owner ON runs (owner) WHERE owner IS NOT NULL;
CREATE INDEX runs_workflow ON runs (workflow, created);

CREATE TABLE batches (
	run    INTEGER NOT NULL REFERENCES runs (key),
	first  INTEGER NOT NULL,
	count  INTEGER NOT NULL,
	digest INTEGER NOT NULL, -- the 64 bits, as signed
	link   BLOB    NOT NULL,
	body   BLOB    NOT NULL,
	PRIMARY KEY (run, first)
) STRICT, WITHOUT ROWID;

CREATE TABLE inbox (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	run     INTEGER NOT NULL REFERENCES runs (key),
	kind    TEXT    NOT NULL,
	reason  TEXT    NOT NULL,
	created INTEGER NOT NULL
) STRICT;
CREATE INDEX inbox_run ON inbox (run, id);

CREATE TABLE drivers (
	epoch   INTEGER PRIMARY KEY AUTOINCREMENT,
	pid     INTEGER NOT NULL,
	host    TEXT    NOT NULL,
	started INTEGER NOT NULL
) STRICT;

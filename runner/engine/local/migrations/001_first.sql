-- One row: who this store is. The file "store" beside the database repeats it, so that an emptied or foreign database is noticed.
CREATE TABLE store (one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL) STRICT;

-- Programs, by the hash that journals pin. sum is the SHA-256 of the unpacked body.
CREATE TABLE definitions (hash TEXT PRIMARY KEY, sum BLOB NOT NULL, packed INTEGER NOT NULL, body BLOB NOT NULL) STRICT;

-- Source texts, for people. hash is the SHA-256 of the unpacked body.
CREATE TABLE sources (hash BLOB PRIMARY KEY, packed INTEGER NOT NULL, body BLOB NOT NULL) STRICT;

-- A commit that only adds to a journal writes no row here: seq and link are as old as the rest of the row, and the journal ends where
-- its last batch does.
CREATE TABLE runs (
	key         INTEGER PRIMARY KEY,
	id          TEXT    NOT NULL UNIQUE,
	header      BLOB    NOT NULL,
	definition  TEXT    NOT NULL REFERENCES definitions (hash),
	source      BLOB    REFERENCES sources (hash),
	workflow    TEXT    NOT NULL,
	created     INTEGER NOT NULL,           -- nanoseconds since 1970, like all times here
	ended       INTEGER NOT NULL DEFAULT 0, -- 0: not yet
	status      TEXT    NOT NULL,
	summary     BLOB,                       -- of the end, bounded
	driven      INTEGER NOT NULL DEFAULT 0, -- 1: a driver has begun to carry out its commands
	owner       INTEGER,                    -- the epoch that drives it, or drove it and died; NULL: nobody
	clean       INTEGER NOT NULL DEFAULT 1, -- 0: driven now, or its driver died
	seq         INTEGER NOT NULL,           -- number of the last event
	link        BLOB    NOT NULL,           -- of the last batch
	parent      TEXT,                       -- the id of the run that called this one; NULL: a person started it
	parent_node TEXT,                       -- the path of the node that called it
	cancels     INTEGER NOT NULL DEFAULT 0, -- how often the run was cancelled: a parent that asks again after a crash adds none
	grp         TEXT,                       -- runs of one group do not overlap; NULL: the run is in no group
	due         INTEGER,                    -- when the run must be woken, 1: at once; NULL: no timer is set, or the run has live attempts or called runs
	parked      INTEGER,                    -- the epoch of the process that parked the run and wakes it; NULL: it is not parked
	pending     BLOB,                       -- the first event as JSON, of a run that waits for its turn; NULL: the journal has begun
	retry_of    TEXT                        -- the run that this one repeats; NULL: none
) STRICT;
CREATE INDEX runs_created ON runs (created);
CREATE INDEX runs_owner ON runs (owner) WHERE owner IS NOT NULL;
CREATE INDEX runs_workflow ON runs (workflow, created);
CREATE INDEX runs_parent ON runs (parent, ended) WHERE parent IS NOT NULL;
CREATE INDEX runs_parked ON runs (parked, due) WHERE parked IS NOT NULL;
CREATE INDEX runs_unended ON runs (due) WHERE ended = 0;
CREATE INDEX runs_retry_of ON runs (retry_of) WHERE retry_of IS NOT NULL;

CREATE TABLE batches (
	run    INTEGER NOT NULL REFERENCES runs (key),
	first  INTEGER NOT NULL,
	count  INTEGER NOT NULL,
	digest INTEGER NOT NULL, -- the 64 bits, as signed
	link   BLOB    NOT NULL,
	body   BLOB    NOT NULL,
	PRIMARY KEY (run, first)
) STRICT, WITHOUT ROWID;

-- Messages to runs, until a driver moves them into the journal. body is an external event as JSON, without the row's id.
CREATE TABLE inbox (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	run     INTEGER NOT NULL REFERENCES runs (key),
	body    BLOB    NOT NULL,
	created INTEGER NOT NULL
) STRICT;
CREATE INDEX inbox_run ON inbox (run, id);

CREATE TABLE drivers (
	epoch   INTEGER PRIMARY KEY AUTOINCREMENT,
	pid     INTEGER NOT NULL,
	host    TEXT    NOT NULL,
	started INTEGER NOT NULL
) STRICT;

-- The queues of groups: a row for each run of a group that has not ended. The order of the ids is that of the turns.
CREATE TABLE turns (
	id     INTEGER PRIMARY KEY AUTOINCREMENT,
	run    INTEGER NOT NULL UNIQUE REFERENCES runs (key),
	grp    TEXT    NOT NULL,
	shares TEXT    NOT NULL,           -- the nearest caller of the same group, whose turn the run shares; '' if there is none
	epoch  INTEGER,                    -- the process that started the run, waits for the turn, or has it; NULL: none
	holds  INTEGER NOT NULL DEFAULT 0, -- 1: the run has its turn, for as long as that process lives
	waits  INTEGER NOT NULL DEFAULT 0  -- 1: a driver waits for the turn
) STRICT;
CREATE INDEX turns_queue ON turns (grp, shares, id);
CREATE INDEX turns_holds ON turns (grp, shares) WHERE holds = 1;
CREATE INDEX turns_epoch ON turns (epoch) WHERE epoch IS NOT NULL;

-- Requests of attempts for what the runs of the store share: package runner/admission. The order of the ids is that of first asking.
CREATE TABLE admissions (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	key      TEXT    NOT NULL UNIQUE,    -- of the attempt's work
	run      TEXT    NOT NULL,
	node     TEXT    NOT NULL,           -- its path
	ticket   INTEGER NOT NULL,           -- of the attempt that asked last
	epoch    INTEGER NOT NULL,           -- of the process that drives the run
	priority INTEGER NOT NULL,
	asked    INTEGER NOT NULL,           -- when it asked first
	needs    BLOB    NOT NULL,           -- as JSON
	granted  INTEGER NOT NULL DEFAULT 0, -- when: the attempt runs, or may start; 0: not yet
	refused  INTEGER NOT NULL DEFAULT 0  -- 1: the attempt was answered, and the run is told of the grant
) STRICT;
CREATE INDEX admissions_run ON admissions (run);
CREATE INDEX admissions_epoch ON admissions (epoch, granted);

-- What each of them needs: the lines of the resources, and who has them.
CREATE TABLE admission_needs (
	resource TEXT    NOT NULL,
	granted  INTEGER NOT NULL,
	rank     INTEGER NOT NULL, -- the priority, negated: the lowest stands first
	request  INTEGER NOT NULL REFERENCES admissions (id),
	PRIMARY KEY (resource, granted, rank, request)
) STRICT, WITHOUT ROWID;

-- What runs share: package runner/shared. The reducers of that package decide what spaces, keys and bodies mean.
CREATE TABLE shared (
	space TEXT NOT NULL,
	key   TEXT NOT NULL,
	body  BLOB NOT NULL,
	PRIMARY KEY (space, key)
) STRICT, WITHOUT ROWID;

-- How long the nodes of a workflow took in its last runs, in the words of runner/durations: the tally, and what is expected.
CREATE TABLE durations (
	workflow TEXT PRIMARY KEY,
	runs     INTEGER NOT NULL, -- how many have been counted, ever
	whole    BLOB    NOT NULL,
	expected BLOB    NOT NULL
) STRICT;

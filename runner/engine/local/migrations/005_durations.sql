-- How long the nodes of a workflow took in its last runs, in the words of runner/durations: all that is kept, and what is expected.
CREATE TABLE durations (
	workflow TEXT PRIMARY KEY,
	runs     INTEGER NOT NULL, -- how many have been counted, ever
	whole    BLOB    NOT NULL,
	expected BLOB    NOT NULL
) STRICT;

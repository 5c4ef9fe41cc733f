-- Every record, by its number. body is its JSON; sum a checksum over the store's id, the number and the body. Row 0 says which
-- store this is and of which version.
CREATE TABLE records (seq INTEGER PRIMARY KEY, body BLOB NOT NULL, sum BLOB NOT NULL) STRICT;

-- The same once more, on other pages: what damage takes here, it leaves there.
CREATE TABLE copies (seq INTEGER PRIMARY KEY, body BLOB NOT NULL, sum BLOB NOT NULL) STRICT;

-- What each record does, and to which entries: enough to name what is lost where both are gone.
CREATE TABLE names (seq INTEGER PRIMARY KEY, body BLOB NOT NULL, sum BLOB NOT NULL) STRICT;

package floor

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
)

// The floor of store operations writes the rows of the run: as many states, a recorded answer each, and the bytes of the events, in
// transactions as large as the batches of the run were.
func TestOperationsAreThoseOfTheRun(t *testing.T) {
	store := t.TempDir()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(store, database))
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		"CREATE TABLE batches (run INTEGER, first INTEGER, count INTEGER, body BLOB)",
		"INSERT INTO batches VALUES (1, 1, 1, zeroblob(900)), (1, 2, 3, zeroblob(300)), (1, 5, 5, zeroblob(500))",
		"CREATE TABLE shared (space TEXT, key TEXT, body BLOB)",
		"INSERT INTO shared VALUES ('kv default', 'k/0', zeroblob(9)), ('kv default', 'k/1', zeroblob(9)), ('kv-count', 'default', zeroblob(7))",
	} {
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	r, err := operations(10, store)
	if err != nil || r.Group != 4 || r.Wall <= 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if db, err = openTheirs("."); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var states, answers, batches, bytes, value int
	if err := db.QueryRow("SELECT (SELECT count(*) FROM shared WHERE space = 'kv default'), (SELECT count(*) FROM shared WHERE space = ?), "+
		"(SELECT count(*) FROM batches), (SELECT sum(length(body)) FROM batches), (SELECT min(length(body)) FROM shared)", answerSpace).
		Scan(&states, &answers, &batches, &bytes, &value); err != nil {
		t.Fatal(err)
	}
	if have, want := fmt.Sprint(states, answers, batches, bytes, value), "2 10 3 1000 9"; have != want {
		t.Errorf("states, answers, batches, their bytes, and those of a value are %s, want %s", have, want)
	}
}

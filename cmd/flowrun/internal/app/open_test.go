package app

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A store from before the first release is refused by whatever reads or writes it, and is left as it is.
func TestStoresFromBeforeTheFirstReleaseAreRefused(t *testing.T) {
	for _, line := range []string{"runs prune --keep 9", "resume h5emyabcajdg", "retry nowhere", "cancel h5emyabcajdg", "runs list", "events h5emyabcajdg"} {
		dir := unreleasedStore(t)
		before, err := os.ReadFile(filepath.Join(dir, "flowrun.db"))
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		code := Main(append(strings.Fields(line), "--store", dir), Streams{Stdin: strings.NewReader(""), Stdout: &said, Stderr: &said})
		if code != exitCouldNot || !strings.Contains(said.String(), "before the first release") || !strings.Contains(said.String(), dir) {
			t.Errorf("%s ends with %d and says\n%s", line, code, said.String())
		}
		if after, err := os.ReadFile(filepath.Join(dir, "flowrun.db")); err != nil || !bytes.Equal(after, before) {
			t.Errorf("%s changes the database (%v)", line, err)
		}
	}
}

// unreleasedStore is a store whose schema has version 7.
func unreleasedStore(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "flowrun.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{"CREATE TABLE store (id TEXT)", "PRAGMA user_version = 7", "PRAGMA application_id = 0x666c6f77"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "store"), []byte("oldstore2345\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

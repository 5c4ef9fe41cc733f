package store

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// withMigration adds a migration for the time of a test.
func withMigration(t *testing.T, statement string) {
	old := migrations
	migrations = append(migrations[:len(migrations):len(migrations)], statement)
	t.Cleanup(func() { migrations = old })
}

func TestAnOlderStoreIsBroughtForward(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	appendAll(t, s, records(1, 50)...)
	old := s.State()
	s.Close()
	withMigration(t, "ALTER TABLE names ADD COLUMN more TEXT")
	s = open(t, dir, Options{})
	if !reflect.DeepEqual(s.State(), old) {
		t.Error("it is another one")
	}
	var columns int
	if err := s.db.ask("SELECT count(*) FROM pragma_table_info('names')", &columns); err != nil || columns != 4 {
		t.Error(columns, err)
	}
	copied := t.TempDir()
	b, err := os.ReadFile(s.path(databaseFile + ".v1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(copied, databaseFile), b, 0o600); err != nil {
		t.Fatal(err)
	}
	appendAll(t, s, put("new"))
	s.Close()
	migrations = migrations[:1]
	var newer *NewerStore
	if _, err := Open(dir, Options{}); !errors.As(err, &newer) || newer.Have != 2 {
		t.Error("a newer store opens:", err)
	}
	if s := open(t, copied, Options{}); !reflect.DeepEqual(s.State(), old) {
		t.Error("the copy is another one")
	}
}

func TestAMigrationThatFailsLeavesTheStore(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	appendAll(t, s, put("a"))
	s.Close()
	withMigration(t, "CREATE TABLE half (x); NONSENSE")
	if _, err := Open(dir, Options{}); err == nil {
		t.Fatal("it was brought forward by nonsense")
	}
	migrations = migrations[:1]
	s = open(t, dir, Options{Warn: func(text string) { t.Error(text) }})
	if s.State().Len() != 1 {
		t.Error("it is another one")
	}
}

package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/memory/private/durable"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/journal"
)

func TestSchemaSum(t *testing.T) {
	want, err := durable.SchemaSum(context.Background(), migrations)
	if err != nil || schemaSum != want {
		t.Errorf("schemaSum in migrate.go must be %q (%v)", want, err)
	}
}

// TestForeignSchemaIsRefused plants what a stranger could, each of which would have been carried out or read before.
func TestForeignSchemaIsRefused(t *testing.T) {
	for statement, want := range map[string]error{
		"CREATE TRIGGER evil AFTER UPDATE ON runs BEGIN INSERT INTO inbox (run, body, created) VALUES (NEW.key, x'', 0); END":                                                               engine.ErrForeign,
		"CREATE TRIGGER evil AFTER INSERT ON drivers BEGIN INSERT INTO turns (run, grp, shares) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, i, i FROM n; END": engine.ErrForeign,
		"ALTER TABLE runs RENAME TO kept; CREATE VIEW runs AS SELECT * FROM kept":                                                                                                           engine.ErrForeign,
		"CREATE TABLE evil (x)": engine.ErrForeign,
		"DROP INDEX inbox_run; CREATE INDEX inbox_run ON inbox (run, abs(id))":       new(engine.Damaged),
		"ALTER TABLE turns ADD COLUMN evil INTEGER GENERATED ALWAYS AS (id) VIRTUAL": new(engine.Damaged),
		"PRAGMA user_version = -1": ErrReplaced,
	} {
		for _, readOnly := range []bool{true, false} {
			dir, _, _ := finished(t, 1)
			alter(t, dir, statement)
			_, err := Open(dir, Options{ReadOnly: readOnly})
			var damaged *engine.Damaged
			if errors.As(want, &damaged) && !errors.As(err, &damaged) || damaged == nil && !errors.Is(err, want) {
				t.Errorf("%s, reading %v: %v", statement, readOnly, err)
			}
		}
	}
}

// TestLinksAreNotFollowed plants a link in each place of a store, and does what opens files there.
func TestLinksAreNotFollowed(t *testing.T) {
	made, _, _ := finished(t, 1)
	var places []string
	filepath.WalkDir(made, func(path string, _ os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(made, path); rel != "." {
			places = append(places, rel)
		}
		return err
	})
	places = append(places, reserveFile, databaseFile+"-wal", databaseFile+"-shm", databaseFile+"-journal", identityFile+".new", databaseFile+".v1")
	for _, place := range places {
		for _, readOnly := range []bool{true, false} {
			dir, run, _ := finished(t, 1)
			canary := filepath.Join(t.TempDir(), "canary")
			os.WriteFile(canary, []byte("canary"), 0o600)
			os.RemoveAll(filepath.Join(dir, place))
			if strings.HasPrefix(place, marksDir+"/") {
				place = marksDir + "/" + run
				os.Remove(filepath.Join(dir, place))
			}
			if err := os.Symlink(canary, filepath.Join(dir, place)); err != nil {
				t.Fatal(err)
			}
			e, err := Open(dir, Options{ReadOnly: readOnly})
			if err == nil {
				_, err = e.Examine(context.Background(), 0)
				if err == nil && !readOnly {
					err = e.replenish()
				}
				e.Close()
			}
			if filepath.Dir(place) == "." && !errors.As(err, new(*private.Refused)) {
				t.Errorf("a link for %s, reading %v: %v", place, readOnly, err)
			}
			if b, _ := os.ReadFile(canary); string(b) != "canary" {
				t.Errorf("a link for %s, reading %v: the file outside says %q", place, readOnly, b)
			}
		}
	}
}

func TestEmptyFolderIsTakenOver(t *testing.T) {
	dir := t.TempDir()
	os.Chmod(dir, 0o777)
	e, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	e.Close()
	if i, err := os.Stat(dir); err != nil || i.Mode().Perm() != 0o755 {
		t.Errorf("the folder is %v, %v", i.Mode(), err)
	}
}

// TestIDsOfAStrangerAreNoPaths names files outside by the ids of rows, and lets runs call each other in a circle.
func TestIDsOfAStrangerAreNoPaths(t *testing.T) {
	const id = "../../canary"
	for _, status := range []string{"succeeded", pruned} {
		dir, _, _ := finished(t, 1)
		canary := filepath.Join(dir, marksDir, id)
		os.WriteFile(canary, []byte("canary"), 0o600)
		alter(t, dir, "UPDATE runs SET id = '"+id+"', status = '"+status+"'")
		e, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		ctx := context.Background()
		if err := e.Remove(ctx, []string{id}, true); err == nil {
			t.Errorf("a run %s called %s is removed", status, id)
		}
		if _, _, err := e.Journal(ctx, id, nil); err == nil {
			t.Errorf("a run %s called %s is read", status, id)
		}
		if err := e.Sweep(ctx); err != nil {
			t.Errorf("%s: %v", status, err)
		}
		if b, err := os.ReadFile(canary); string(b) != "canary" {
			t.Errorf("%s: the file outside says %q, %v", status, b, err)
		}
	}
}

// TestExamineOpensNoPathOutOfAnID looks at a row whose id leads to a folder outside: reading its mark there would fail as reading.
func TestExamineOpensNoPathOutOfAnID(t *testing.T) {
	dir, _, _ := finished(t, 1)
	const id = "../../victim"
	if err := os.Mkdir(filepath.Join(dir, marksDir, id), 0o700); err != nil {
		t.Fatal(err)
	}
	alter(t, dir, "UPDATE runs SET id = '"+id+"'")
	e, err := Open(dir, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	h, err := e.Examine(context.Background(), 1)
	if err != nil || len(h.Broken) != 1 || !errors.Is(h.Broken[0].Err, journal.ErrBroken) {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestRunsThatCallEachOtherInACircle(t *testing.T) {
	dir, run, _ := finished(t, 1)
	alter(t, dir, "UPDATE runs SET parent = id")
	e, err := Open(dir, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if tree, err := e.Tree(context.Background(), run); err != nil || len(tree) != 1 {
		t.Error(tree, err)
	}
	if all, err := e.reading(context.Background()).callersOf(run); err != nil || len(all) != 1 {
		t.Error(all, err)
	}
}

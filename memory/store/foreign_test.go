package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/memory/private/durable"
)

func TestSchemaSum(t *testing.T) {
	want, err := durable.SchemaSum(context.Background(), migrations)
	if err != nil || schemaSum != want {
		t.Errorf("schemaSum in migrate.go must be %q (%v)", want, err)
	}
}

// made makes a memory with some records, and does something to its database.
func made(t *testing.T, statement string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), ".flowrun")
	s := open(t, dir, Options{})
	appendAll(t, s, records(1, 50)...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", Path(dir))
	if err == nil {
		_, err = db.Exec(statement)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, x'', x'' FROM n"

func TestForeignSchemaIsRefused(t *testing.T) {
	for statement, refused := range map[string]bool{
		"CREATE TRIGGER evil AFTER INSERT ON names BEGIN DELETE FROM records; END":                                             true,
		"ALTER TABLE names RENAME TO kept; CREATE VIEW names AS " + endless:                                                    true,
		"ALTER TABLE records RENAME TO kept; CREATE VIEW records(seq, body, sum) AS " + endless + "; PRAGMA user_version = 99": false,
		"CREATE TABLE evil (x)":                                   true,
		"ALTER TABLE copies ADD COLUMN x TEXT CHECK (x IS NULL)":  false,
		"DROP TABLE copies; CREATE TABLE copies (seq, body, sum)": false,
		"DROP TABLE copies":                                       false,
	} {
		for _, o := range []Options{{}, {ReadOnly: true}, {Look: true}} {
			dir := made(t, statement)
			s, err := Open(dir, o)
			if refused != errors.Is(err, ErrForeign) || !refused && err != nil {
				t.Errorf("%s, %+v: %v", statement, o, err)
			}
			if err != nil {
				continue
			}
			if r, err := s.Check(context.Background()); err != nil || r.Entries != 50 || (len(r.Problems) > 0) != o.Look {
				t.Errorf("%s, %+v: %+v, %v", statement, o, r, err)
			}
			s.Close()
		}
	}
}

// snapshot is all that a folder holds, but for what SQLite shares what it reads with.
func snapshot(t *testing.T, dir string) []byte {
	t.Helper()
	var all bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if name := d.Name(); name == sharedFile || name == logFile && len(b) == 0 {
			return err
		}
		all.WriteString(path)
		all.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.Bytes()
}

// TestLookChangesNothing looks at a whole memory and at damaged ones.
func TestLookChangesNothing(t *testing.T) {
	for name, harm := range map[string]func(dir string) error{
		"whole":     func(string) error { return nil },
		"damaged":   func(dir string) error { return os.Truncate(Path(dir), 3*pageSize) },
		"emptied":   func(dir string) error { return os.Truncate(Path(dir), 0) },
		"no mark":   func(dir string) error { return os.Truncate(filepath.Join(dir, markFile), 0) },
		"no lock":   func(dir string) error { return os.Remove(filepath.Join(dir, lockFile)) },
		"swap":      func(dir string) error { return os.WriteFile(filepath.Join(dir, freshFile), []byte("x"), 0o600) },
		"older":     func(dir string) error { return nil },
		"left over": func(dir string) error { return os.WriteFile(filepath.Join(dir, logFile), make([]byte, 5000), 0o600) },
	} {
		dir := made(t, "SELECT 1")
		if err := harm(dir); err != nil {
			t.Fatal(err)
		}
		if name == "older" {
			withMigration(t, "CREATE TABLE later (x)")
		}
		before := snapshot(t, dir)
		var heard []string
		s, err := Open(dir, Options{Look: true, Warn: func(text string) { heard = append(heard, text) }})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r, err := s.Check(context.Background())
		if bad := name == "damaged" || name == "emptied" || name == "no mark"; err != nil || bad != (len(r.Problems) > 0) {
			t.Errorf("%s: %+v, %v, %q", name, r, err, heard)
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !bytes.Equal(before, snapshot(t, dir)) {
			t.Errorf("%s: looking changed the memory", name)
		}
		if name == "older" {
			migrations = migrations[:1]
		}
	}
}

// TestLinksAreNotFollowed plants a link in each place of a memory.
func TestLinksAreNotFollowed(t *testing.T) {
	for _, place := range []string{databaseFile, logFile, sharedFile, lockFile, markFile, newFile, freshFile, databaseFile + "-journal", newFile + "-journal",
		damagedFile + "20260102T150405.000000000Z", ".gitignore"} {
		for _, o := range []Options{{}, {ReadOnly: true}, {Look: true}} {
			dir := made(t, "SELECT 1")
			canary := filepath.Join(t.TempDir(), "canary")
			os.WriteFile(canary, []byte("canary"), 0o600)
			os.Remove(filepath.Join(dir, place))
			if err := os.Symlink(canary, filepath.Join(dir, place)); err != nil {
				t.Fatal(err)
			}
			if s, err := Open(dir, o); err == nil {
				s.Close()
				t.Errorf("a link for %s, %+v: it opens", place, o)
			} else if !errors.As(err, new(*private.Refused)) {
				t.Errorf("a link for %s, %+v: %v", place, o, err)
			}
			if b, _ := os.ReadFile(canary); string(b) != "canary" {
				t.Errorf("a link for %s, %+v: the file outside says %q", place, o, b)
			}
		}
	}
}

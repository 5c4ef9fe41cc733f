package durable

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

var ours = []string{`CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT, x TEXT NOT NULL); -- said
	CREATE INDEX a_x ON a (x) WHERE x != ''`, "ALTER TABLE a ADD COLUMN y INTEGER", "CREATE TABLE b (k TEXT PRIMARY KEY) STRICT, WITHOUT ROWID"}

func open(t testing.TB) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	for _, m := range ours {
		if _, err := db.Exec(m); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

func TestCheck(t *testing.T) {
	sum, err := SchemaSum(context.Background(), ours)
	if err != nil {
		t.Fatal(err)
	}
	for _, sum := range []string{"", sum} {
		testCheck(t, sum)
	}
}

func testCheck(t *testing.T, sum string) {
	for statement, want := range map[string]string{
		"": "",
		"CREATE TRIGGER evil AFTER INSERT ON a BEGIN DELETE FROM b; END":             "trigger evil",
		"CREATE VIEW evil AS SELECT * FROM a":                                        "view evil",
		"CREATE VIRTUAL TABLE evil USING fts5(x)":                                    "table evil",
		"CREATE TABLE evil (x)":                                                      "table evil",
		"CREATE TABLE evil (x, y GENERATED ALWAYS AS (x || x) STORED)":               "table evil",
		"CREATE INDEX evil ON a (y)":                                                 "index evil",
		"ANALYZE":                                                                    "table sqlite_stat1",
		"ALTER TABLE b ADD COLUMN z INTEGER GENERATED ALWAYS AS (length(k)) VIRTUAL": "table b",
		"ALTER TABLE a ADD COLUMN z INTEGER CHECK (z > 1)":                           "table a",
		"DROP INDEX a_x":                                                             "index a_x",
		"DROP TABLE b; CREATE VIEW b AS SELECT 1 AS k":                               "view b",
		"DROP INDEX a_x; CREATE INDEX a_x ON a (x)":                                  "index a_x",
		"DROP TABLE b; CREATE TABLE b (k TEXT PRIMARY KEY, z) WITHOUT ROWID":         "table b",
		"DROP INDEX a_x; CREATE TRIGGER a_x INSERT ON a BEGIN SELECT 1; END":         "trigger a_x",
		"PRAGMA writable_schema = ON; INSERT INTO sqlite_schema SELECT * FROM sqlite_schema WHERE name = 'b'": "an object",
	} {
		db := open(t)
		db.SetMaxOpenConns(1)
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		err := CheckSchema(context.Background(), db, ours, sum)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", statement, err, want)
		}
		var foreign *Foreign
		var changed *Changed
		if err != nil && !errors.As(err, &foreign) && !errors.As(err, &changed) {
			t.Errorf("%q: %T", statement, err)
		}
	}
}

// What a check costs each command: the list of objects, and a hash of it.
func BenchmarkCheck(b *testing.B) {
	db := open(b)
	sum, err := SchemaSum(context.Background(), ours)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := CheckSchema(context.Background(), db, ours, sum); err != nil {
			b.Fatal(err)
		}
	}
}

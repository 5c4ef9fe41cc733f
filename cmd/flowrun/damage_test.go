package main

import (
	"database/sql"
	"net/url"

	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite"
)

// sqlite STORE STATEMENT changes a store's database behind the back of flowrun, and must change something.
func sqlite(ts *testscript.TestScript, neg bool, words []string) {
	if neg || len(words) != 2 {
		ts.Fatalf("usage: sqlite STORE STATEMENT")
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: ts.MkAbs(words[0]) + "/flowrun.db"}).EscapedPath()+"?mode=rw")
	ts.Check(err)
	defer db.Close()
	res, err := db.Exec(words[1])
	ts.Check(err)
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		ts.Fatalf("nothing was changed by %s (%v)", words[1], err)
	}
}

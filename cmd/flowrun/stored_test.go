package main

import (
	"bytes"
	"compress/flate"
	"database/sql"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite"
)

// stored WORD tells whether a word stands anywhere in the store .flowrun: in a file, in a column of a table, packed or not, as it is or in
// base64. A session that a secret has no place in asks with "!", and without for a word that is not a secret, so that it is known to look.
func stored(ts *testscript.TestScript, neg bool, words []string) {
	if len(words) != 1 {
		ts.Fatalf("usage: stored WORD")
	}
	dir := ts.MkAbs(".flowrun")
	found, err := search(dir, [][]byte{[]byte(words[0]), []byte(base64.StdEncoding.EncodeToString([]byte(words[0])))})
	ts.Check(err)
	if (found == "") != neg {
		ts.Fatalf("%s is found in %q", words[0], found)
	}
}

// search names a place that holds one of some words.
func search(dir string, words [][]byte) (found string, err error) {
	look := func(where string, text []byte) {
		for _, w := range words {
			if bytes.Contains(text, w) {
				found = where
			}
		}
		if plain, err := io.ReadAll(flate.NewReader(bytes.NewReader(text))); err == nil && len(plain) > 0 {
			for _, w := range words {
				if bytes.Contains(plain, w) {
					found = where + ", packed"
				}
			}
		}
	}
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		look(name, text)
		if filepath.Ext(name) == ".db" && err == nil {
			err = rows(name, look)
		}
		return err
	})
	return found, err
}

// rows looks at each column of each row of each table.
func rows(name string, look func(string, []byte)) error {
	db, err := sql.Open("sqlite", "file:"+name+"?mode=ro")
	if err != nil {
		return err
	}
	defer db.Close()
	tables, err := db.Query("SELECT name FROM sqlite_master WHERE type = 'table'")
	if err != nil {
		return err
	}
	var names []string
	for tables.Next() {
		var t string
		if err := tables.Scan(&t); err != nil {
			return err
		}
		names = append(names, t)
	}
	for _, t := range names {
		list, err := db.Query("SELECT * FROM " + t)
		if err != nil {
			return err
		}
		columns, _ := list.Columns()
		values, to := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			to[i] = &values[i]
		}
		for list.Next() {
			if err := list.Scan(to...); err != nil {
				return err
			}
			for i, v := range values {
				switch v := v.(type) {
				case []byte:
					look(t+"."+columns[i], v)
				default:
					look(t+"."+columns[i], []byte(fmt.Sprint(v)))
				}
			}
		}
		if err := list.Err(); err != nil {
			return err
		}
	}
	return nil
}

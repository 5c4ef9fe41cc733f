package floor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// database is the file of both: flowrun's store has one of this name, and the floor makes its own in the folder it is started in.
const database = "flowrun.db"

// settings are those of flowrun's store: each commit is synced, and the log is written back after 16 MiB.
const settings = "_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=wal_autocheckpoint(4000)"

// rows writes n rows, group of them a transaction.
func rows(n, group int, like string) (r Report, err error) {
	r.Group = group
	if r.RowBytes, err = rowBytes(like); err != nil {
		return r, fmt.Errorf("the size of an event in %s: %w", like, err)
	}
	ctx := context.Background()
	c, closeAll, err := openOwn()
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	if _, err := c.ExecContext(ctx, "CREATE TABLE ev (run INTEGER, seq INTEGER, data BLOB, PRIMARY KEY (run, seq)) WITHOUT ROWID"); err != nil {
		return r, err
	}
	w := &rowWriter{payload: make([]byte, r.RowBytes)}
	if w.insert, err = c.PrepareContext(ctx, "INSERT INTO ev VALUES (?, ?, ?)"); err != nil {
		return r, err
	}
	defer w.insert.Close()
	if w.begin, err = c.PrepareContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return r, err
	}
	defer w.begin.Close()
	if w.commit, err = c.PrepareContext(ctx, "COMMIT"); err != nil {
		return r, err
	}
	defer w.commit.Close()
	began := time.Now()
	for first := 0; first < n; first += group {
		if err := w.write(first, min(group, n-first)); err != nil {
			return r, err
		}
	}
	r.Wall = time.Since(began)
	return r, nil
}

type rowWriter struct {
	begin, insert, commit *sql.Stmt
	payload               []byte
}

// write is one commit. A single row needs no BEGIN: it is a transaction by itself.
func (w *rowWriter) write(first, n int) error {
	if n > 1 {
		if _, err := w.begin.Exec(); err != nil {
			return err
		}
	}
	for i := range n {
		if _, err := w.insert.Exec(1, first+i, w.payload); err != nil {
			return err
		}
	}
	if n > 1 {
		_, err := w.commit.Exec()
		return err
	}
	return nil
}

// rowBytes is how many bytes an event takes on average in a store of flowrun's.
func rowBytes(store string) (n int, err error) {
	db, err := openTheirs(store)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	err = db.QueryRow("SELECT sum(length(body)) / sum(count) FROM batches").Scan(&n)
	return n, err
}

// openTheirs opens the database of a store of flowrun's for reading.
func openTheirs(store string) (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+filepath.Join(store, database)+"?mode=ro")
}

// openOwn makes a database in the folder of the process, with the settings of flowrun's store.
func openOwn() (*sql.Conn, func() error, error) {
	db, err := sql.Open("sqlite", "file:"+database+"?"+settings)
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1)
	c, err := db.Conn(context.Background())
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return c, func() error { return errors.Join(c.Close(), db.Close()) }, nil
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/memory/private/durable"
)

const (
	// pageSize is the size of a page: pages are found without SQLite by it.
	pageSize = durable.PageSize
	// checkpointPages is how long the log grows before it is written back: 4 MiB, which is as much as an open has to read again.
	checkpointPages = 1000
)

// database is an open one: a single connection, as all that is read lies in memory.
type database struct {
	*sql.Conn
	pool  *sql.DB
	info  os.FileInfo // of the file, to notice that it was replaced
	log   durable.Log
	wrote bool
}

// openToLook opens the database such that SQLite writes neither to it nor back from its log.
func (s *Store) openToLook() (*database, error) {
	source := durable.Source(s.path(databaseFile), "&_pragma=query_only(1)"+durable.Guarded, s.options.sqlite)
	return connect(strings.Replace(source, "mode=rw", "mode=ro", 1))
}

func (s *Store) openDatabase() (*database, error) {
	info, err := os.Lstat(s.path(databaseFile))
	if err != nil {
		return nil, err
	}
	if s.options.Look {
		d, err := s.openToLook()
		if err == nil {
			d.info = info
		}
		return d, err
	}
	d, err := connect(durable.Source(s.path(databaseFile), durable.Synced+durable.Guarded, s.options.sqlite))
	if err != nil {
		return nil, err
	}
	d.info = info
	if err := durable.CheckPragmas(d.Conn, map[string]string{"journal_mode": "wal", "synchronous": "2"}); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func connect(source string) (*database, error) {
	pool, err := sql.Open("sqlite", source)
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	c, err := pool.Conn(context.Background())
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return &database{Conn: c, pool: pool, log: durable.Log{Conn: c, Limit: checkpointPages}}, nil
}

// Close gives up the connection and its pool. SQLite leaves a file alone that is no longer where it was opened.
func (d *database) Close() error { return errors.Join(d.Conn.Close(), d.pool.Close()) }

func (d *database) exec(statement string, args ...any) error {
	_, err := d.ExecContext(context.Background(), statement, args...)
	return err
}

func (d *database) ask(query string, into ...any) error {
	return d.QueryRowContext(context.Background(), query).Scan(into...)
}

// createEmpty makes a private file of no bytes; SQLite would make it readable for others.
func createEmpty(path string) error {
	f, err := private.Open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

package local

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	_ "modernc.org/sqlite"

	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/memory/private/durable"
	"github.com/flowrun/flowrun/runner/engine"
)

const (
	// checkpointPages is how long the log grows before it is written back: 16 MiB, so that a burst of commits pays once.
	checkpointPages = 4000
	// readers is the size of the pool for reading.
	readers = 4
)

// dataSource names the database for one way to reach it.
func dataSource(dir string, d *disk, how access) string {
	path, more := filepath.Join(dir, databaseFile), "&_pragma=foreign_keys(1)"+durable.Guarded
	if how == writing {
		more += fmt.Sprintf("%s&_pragma=synchronous(%d)", durable.Logged, d.synchronous())
	} else {
		more += string(how) + "&_pragma=query_only(1)"
	}
	return durable.Source(path, more, d.sqlite)
}

// access is how a connection reaches the database: by writing to it, or else by one of three ways to read it.
type access string

const (
	writing access = "write"
	// reading shares read pages with all processes, through a file beside the database.
	reading access = ""
	// frozen takes the database for a file that nobody changes, and that has no log.
	frozen access = "&immutable=1"
	// alone shares nothing, and keeps writers out meanwhile.
	alone access = "&_pragma=locking_mode(EXCLUSIVE)"
)

// openDatabase opens the writer (nil for reading only) and the readers, and sees to it that it is the right database, whole
// and of this release's version.
func openDatabase(dir string, d *disk, readOnly bool) (write *writer, read *sql.DB, err error) {
	if !readOnly {
		if err := makeFolder(dir); err != nil {
			return nil, nil, err
		}
	}
	if err := private.Check(dir); err != nil {
		return nil, nil, err
	}
	if readOnly {
		if _, err := os.Lstat(filepath.Join(dir, databaseFile)); errors.Is(err, fs.ErrNotExist) {
			if id, _ := readIdentity(dir); id != "" {
				return nil, nil, fmt.Errorf("%w: %s is missing", ErrReplaced, databaseFile)
			}
			return nil, nil, engine.ErrNoStore
		}
	} else if write, err = openWriter(dir, d); err != nil {
		return nil, nil, err
	}
	how := reading
	if readOnly && isFrozen(dir) {
		how = frozen
	}
	read, err = openReader(dir, d, how)
	if readOnly && durable.IsFull(err) { // nobody has the store open, and the file for sharing cannot be made
		how = alone
		if logSize(dir) == 0 {
			how = frozen
		}
		read, err = openReader(dir, d, how)
	}
	if err != nil {
		closeDatabase(write, nil)
		return nil, nil, err
	}
	return write, read, nil
}

func openReader(dir string, d *disk, how access) (*sql.DB, error) {
	read, err := sql.Open("sqlite", dataSource(dir, d, how))
	if err != nil {
		return nil, err
	}
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers) // a connection that is closed takes its prepared statements along
	if how == alone {
		read.SetMaxOpenConns(1)
	}
	if err := checkReader(dir, read); err != nil {
		read.Close()
		return nil, err
	}
	return read, nil
}

// isFrozen reports whether a store cannot be written here (a read-only mount, another user's
// folder) and no process has it open. SQLite shares read pages through a file beside the database,
// and cannot create that file there.
func isFrozen(dir string) bool {
	const write = 2 // W_OK
	_, err := os.Lstat(filepath.Join(dir, databaseFile+"-wal"))
	return errors.Is(err, fs.ErrNotExist) && syscall.Access(dir, write) != nil
}

func closeDatabase(write *writer, read *sql.DB) (err error) {
	if read != nil {
		err = read.Close()
	}
	if write != nil {
		err = errors.Join(err, write.Close())
	}
	return err
}

func checkReader(dir string, read *sql.DB) error {
	identity, err := readIdentity(dir) // first: who makes a store writes it last
	if err != nil {
		return err
	}
	have, err := schemaVersion(read.QueryRow("PRAGMA user_version"))
	switch {
	case err != nil:
		return err
	case have > latestVersion():
		return &engine.NewerStore{Dir: dir, Have: have, Known: latestVersion()}
	case have < 0:
		return fmt.Errorf("%w: %s says that its version is %d", ErrReplaced, databaseFile, have)
	case have < latestVersion() && identity == "": // it is being made, or its making was cut off
		return engine.ErrNoStore
	case have == 0:
		return fmt.Errorf("%w: %s is empty", ErrReplaced, databaseFile)
	case have < firstVersion:
		return engine.ErrUnreleased
	case have < latestVersion():
		return &engine.OlderStore{Dir: dir, Have: have, Known: latestVersion()}
	}
	if err := checkSchema(dir, read, have); err != nil {
		return err
	}
	return checkIdentity(identity, read.QueryRow("SELECT id FROM store"))
}

// checkSchema refuses a database with any object that the migrations up to its version have not
// made, before a foreign trigger could fire. A damaged schema gives *engine.Damaged.
func checkSchema(dir string, db durable.Asker, version int) error {
	err := durable.CheckSchema(context.Background(), db, migrations[:appliedMigrations(version)], schemaSum)
	if foreign := (*durable.Foreign)(nil); errors.As(err, &foreign) {
		return fmt.Errorf("%w: %w", engine.ErrForeign, err)
	}
	if changed := (*durable.Changed)(nil); errors.As(err, &changed) {
		return &engine.Damaged{Dir: dir, Err: err}
	}
	return err
}

// checkIdentity compares the folder's identity with the database's. The identity is empty if the
// creation of the store was cut off.
func checkIdentity(identity string, row *sql.Row) error {
	var id string
	if err := row.Scan(&id); err != nil {
		return fmt.Errorf("reading the store's id: %w", err)
	}
	if identity != "" && identity != id {
		return fmt.Errorf("%w: the folder belongs to store %s, %s is that of store %s", ErrReplaced, identity, databaseFile, id)
	}
	return nil
}

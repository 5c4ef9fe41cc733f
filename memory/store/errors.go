package store

import (
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/memory/private/durable"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Errors about the store as a whole, wrapped with its folder.
var (
	// ErrNoStore: a read-only open, and there is nothing to read.
	ErrNoStore = errors.New("there is no memory")
	// ErrNotStore: the folder to make a store in, or the database in it, is in use for something else.
	ErrNotStore = errors.New("it is not a store of flowrun")
	// ErrForeign: the database holds what flowrun never puts there, such as a trigger.
	ErrForeign = errors.New("the memory is not one that flowrun made")
	// ErrReadOnly: the store was opened with ReadOnly, or lies where nobody may write.
	ErrReadOnly = errors.New("the memory is open for reading only")
	// ErrBusy: another process did not let go of the store in time.
	ErrBusy = errors.New("another process holds the memory's lock and does not move on; is it stopped?")
	// ErrFull: nothing was written, as there is no room; it can be tried again.
	ErrFull = errors.New("the disk is full")
	// ErrTooLarge: a record of more than MaxRecord bytes.
	ErrTooLarge = errors.New("the entry is too large")
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("the memory is closed")
)

// NewerStore says that a newer release has written the store.
type NewerStore struct{ Have, Known int }

func (e *NewerStore) Error() string {
	return fmt.Sprintf("the memory has version %d; this release knows versions up to %d: use a newer flowrun", e.Have, e.Known)
}

func inStore(dir string, err error) error {
	if err == nil || errors.As(err, new(*private.Refused)) { // it names the folder
		return err
	}
	return fmt.Errorf("memory in %s: %w", dir, err)
}

// damage is what is wrong with the files; it leads to a rebuild.
type damage struct{ err error }

func (d *damage) Error() string { return d.err.Error() }
func (d *damage) Unwrap() error { return d.err }

func damagef(format string, args ...any) error { return &damage{fmt.Errorf(format, args...)} }

func isDamage(err error) bool { return errors.As(err, new(*damage)) }

// sort tells what an error of SQLite means for us. What it cannot make sense of in a file that we made is damage.
func sort(err error) error {
	var s *sqlite.Error
	if !errors.As(err, &s) || isDamage(err) {
		return err
	}
	switch code := s.Code(); {
	case code == sqlite3.SQLITE_IOERR_SHORT_READ:
		return &damage{err}
	case durable.IsFull(err):
		return fmt.Errorf("%w (%w)", ErrFull, err)
	default:
		switch code & 0xff { // the rest of it is a detail
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_READONLY:
			return &damage{err}
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			return fmt.Errorf("%w (%w)", ErrBusy, err)
		}
	}
	return err
}

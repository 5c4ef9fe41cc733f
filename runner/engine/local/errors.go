package local

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Errors about the store as a whole, wrapped with its path. Damage to journals wraps journal.ErrBroken.
var (
	// ErrNoStore: a read-only open, and there is nothing to read.
	ErrNoStore = errors.New("there is no store")
	// ErrNotStore: the folder to make a store in is in use for something else.
	ErrNotStore = errors.New("the folder is no store")
	// ErrReadOnly: the store was opened with ReadOnly.
	ErrReadOnly = errors.New("the store is open for reading only")
	// ErrReplaced: the database is not the one that the folder belongs to, is gone, or was emptied.
	ErrReplaced = errors.New("the store's database is not what it was")
	// ErrForeign: the database holds what flowrun never puts there, such as a trigger.
	ErrForeign = errors.New("the store is not one that flowrun made")
	// ErrBusy: another process did not let go of the store in time.
	ErrBusy = errors.New("another process holds the store's lock and does not move on; is it stopped?")
	// ErrFull: nothing more is driven or started until there is room.
	ErrFull = errors.New("the disk is full")
	// ErrClosed: the engine was closed.
	ErrClosed = errors.New("the store is closed")
)

// NewerStore says that a newer release has written the store.
type NewerStore struct {
	Dir         string
	Have, Known int // versions of the schema
}

func (e *NewerStore) Error() string {
	return fmt.Sprintf("the store %s has version %d; this release knows versions up to %d: use a newer flowrun", e.Dir, e.Have, e.Known)
}

// OlderStore says that a store opened for reading only was written by an older release and has not been brought forward.
type OlderStore struct {
	Dir         string
	Have, Known int
}

func (e *OlderStore) Error() string {
	return fmt.Sprintf("the store %s has version %d and this release reads version %d: a command that writes to it brings it forward, and keeps a copy", e.Dir, e.Have, e.Known)
}

// Damaged says that the database itself cannot be read any more, wherever that is noticed. Damage to a journal that the
// database gives back whole wraps journal.ErrBroken.
type Damaged struct {
	Dir string
	Err error // what SQLite says, or how the schema differs
}

func (e *Damaged) Error() string {
	return fmt.Sprintf("the database of the store %s is damaged (%v): copy the folder before you change anything in it; flowrun doctor tells how to go on", e.Dir, e.Err)
}

// Unwrap gives what SQLite says.
func (e *Damaged) Unwrap() error { return e.Err }

// damaged tells where an error is that SQLite has of the bytes of its file.
func damaged(dir string, err error) error {
	var told *Damaged
	var s *sqlite.Error
	if errors.As(err, &told) || !errors.As(err, &s) {
		return err
	}
	if code := s.Code() & 0xff; code != sqlite3.SQLITE_CORRUPT && code != sqlite3.SQLITE_NOTADB { // the rest of it is a detail
		return err
	}
	return &Damaged{dir, s}
}

// Ambiguous says that a name fits several runs.
type Ambiguous struct {
	Name string
	Runs []string // some of them
}

func (e *Ambiguous) Error() string {
	return fmt.Sprintf("%q fits several runs: %v", e.Name, e.Runs)
}

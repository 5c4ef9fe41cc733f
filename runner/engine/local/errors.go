package local

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Errors about the store as a whole, wrapped with its path. Damage to journals wraps journal.ErrBroken.
var (
	// ErrNotStore: the folder to make a store in is in use for something else.
	ErrNotStore = errors.New("the folder is no store")
	// ErrReplaced: the database is not the one that the folder belongs to, is gone, or was emptied.
	ErrReplaced = errors.New("the store's database is not what it was")
	// ErrBusy: another process did not let go of the store in time.
	ErrBusy = errors.New("another process holds the store's lock and does not move on; is it stopped?")
)

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

package local

import (
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/flowrun/flowrun/runner/engine"
)

// Errors about the store as a whole, wrapped with its path. Damage to journals wraps journal.ErrBroken.
var (
	// ErrNotStore: the folder to make a store in is in use for something else.
	ErrNotStore = errors.New("the folder is not a store")
	// ErrReplaced: the database is not the one that the folder belongs to, is gone, or was emptied.
	ErrReplaced = errors.New("the store's database is not what it was")
	// ErrBusy: another process did not let go of the store in time.
	ErrBusy = errors.New("another process holds the store's lock and does not move on; is it stopped?")
)

// explainDamage adds the folder to an error of SQLite about damage of its file.
func explainDamage(dir string, err error) error {
	var told *engine.Damaged
	var s *sqlite.Error
	if errors.As(err, &told) || !errors.As(err, &s) {
		return err
	}
	if code := s.Code() & 0xff; code != sqlite3.SQLITE_CORRUPT && code != sqlite3.SQLITE_NOTADB { // the rest of it is a detail
		return err
	}
	return &engine.Damaged{Dir: dir, Err: s}
}

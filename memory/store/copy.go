package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/memory/private/durable"
)

// Copy writes the memory of a folder, as it is at one moment, into another folder, and reports whether there is one.
func Copy(ctx context.Context, dir, to string) (bool, error) {
	if _, err := os.Lstat(filepath.Join(dir, databaseFile)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return true, copyTo(ctx, filepath.Join(dir, databaseFile), filepath.Join(to, databaseFile))
}

// copyTo writes a database as it is at one moment into a new file.
func copyTo(ctx context.Context, from, to string) error {
	db, err := sql.Open("sqlite", durable.Source(from, durable.Guarded, ""))
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", to); err != nil {
		return err
	}
	f, err := private.Open(to, os.O_RDWR)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Sync(), f.Close())
}

// PutBack gives a folder the memory that Copy has written into another one. What was there is kept as a damaged database is. Processes that
// have the memory open go on with the one that is there now.
func PutBack(ctx context.Context, dir, from string) (err error) {
	copied, err := Open(from, Options{ReadOnly: true})
	if err != nil {
		return err
	}
	if err := copied.Close(); err != nil {
		return err
	}
	if err := prepareFolder(dir); err != nil {
		return err
	}
	s := &Store{dir: dir}
	if s.lock, err = private.Open(s.path(lockFile), os.O_RDWR|os.O_CREATE); err != nil {
		return err
	}
	defer s.lock.Close()
	unlock, err := s.locked(ctx, exclusive)
	if err != nil {
		return err
	}
	defer unlock()
	if err := os.Remove(s.path(newFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := copyTo(ctx, filepath.Join(from, databaseFile), s.path(newFile)); err != nil {
		return err
	}
	if err := os.Remove(s.path(markFile)); err != nil && !errors.Is(err, fs.ErrNotExist) { // it is ahead of the copy
		return err
	}
	if err := os.Rename(s.path(newFile), s.path(freshFile)); err != nil {
		return err
	}
	if err := s.syncFolder(); err != nil {
		return err
	}
	return s.finishSwap()
}

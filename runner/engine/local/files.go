package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// What lies in a store's folder.
const (
	databaseFile = "flowrun.db"
	identityFile = "store"      // the store's id, as in the database
	setupLock    = "setup.lock" // held while the database is made or brought forward
	driversDir   = "drivers"    // EPOCH.lock, held by a driving process
	marksDir     = "marks"      // RUN, the high-water mark of its journal
)

// prepareFolder makes the folder and what lies in it before the database, for nobody but its owner whatever the umask.
func prepareFolder(dir string) error {
	for _, d := range []string{dir, filepath.Join(dir, driversDir), filepath.Join(dir, marksDir)} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
		if err := os.Chmod(d, 0o700); err != nil {
			return err
		}
	}
	return createFile(filepath.Join(dir, ".gitignore"), "*\n")
}

// createFile makes a private file with the text given, and leaves one that exists alone.
func createFile(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Chmod(0o600); err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

// readIdentity gives the id that the folder says its database has, or "" for a folder that never had one.
func readIdentity(dir string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, identityFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(b)), err
}

// writeIdentity makes the identity file whole or not at all.
func writeIdentity(dir, id string) error {
	path := filepath.Join(dir, identityFile)
	if err := os.Remove(path + ".new"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := createFile(path+".new", id+"\n"); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	return syncFolder(dir)
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("syncing %s: %w", dir, err)
	}
	return nil
}

package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/memory/private/durable"
)

// The files and folders of a store.
const (
	databaseFile = "flowrun.db"
	identityFile = "store"      // the store's id, as in the database
	setupLock    = "setup.lock" // held while the database is made or brought forward
	driversDir   = "drivers"    // EPOCH.lock, held by a driving process
	marksDir     = "marks"      // RUN, the high-water mark of its journal
	snapshotsDir = "snapshots"  // RUN, its state at a place of its journal
	reserveFile  = "reserve"    // room to give back
)

// makeFolder makes the store's folder. One that holds other things, and no store, is refused.
func makeFolder(dir string) error {
	if err := durable.RefuseForeign(dir, ErrNotStore, identityFile); err != nil {
		return err
	}
	return private.MakeFolder(dir)
}

// prepareFolder creates the folder's content besides the database. Only the owner may read it,
// whatever the umask.
func prepareFolder(dir string, d *disk) error {
	for _, folder := range []string{filepath.Join(dir, driversDir), filepath.Join(dir, marksDir)} {
		if err := private.Mkdir(folder); err != nil {
			return err
		}
	}
	return d.createFile(filepath.Join(dir, ".gitignore"), "*\n")
}

// createFile creates a private file with the given text. An existing file stays unchanged.
func (d *disk) createFile(path, text string) error {
	f, err := d.open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
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
	if _, err := f.Write([]byte(text)); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

// maxIdentity is as much of the identity file as is read, in bytes: an id is shorter.
const maxIdentity = 64

// readIdentity gives the id that the folder says its database has, or "" for a folder that never had one.
func readIdentity(dir string) (string, error) {
	b, err := private.ReadFile(filepath.Join(dir, identityFile), maxIdentity)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(b)), err
}

// writeIdentity makes the identity file whole or not at all.
func (d *disk) writeIdentity(dir, id string) error {
	path := filepath.Join(dir, identityFile)
	if err := d.remove(path + ".new"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := d.createFile(path+".new", id+"\n"); err != nil {
		return err
	}
	if err := d.rename(path+".new", path); err != nil {
		return err
	}
	return d.syncFolder(dir)
}

func (d *disk) syncFolder(dir string) error {
	f, err := d.open(dir, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return fmt.Errorf("syncing %s: %w", dir, err)
	}
	return nil
}

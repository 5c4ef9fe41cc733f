package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/flowrun/flowrun/memory/private"
)

// What the memory has in the folder; the journal has its own files there.
const (
	databaseFile = "memory.db"
	logFile      = databaseFile + "-wal"
	sharedFile   = databaseFile + "-shm"
	lockFile     = "memory.lock"
	markFile     = "memory.mark"
	newFile      = "memory.db.new"     // a database in the making
	freshFile    = "memory.db.rebuilt" // one that is whole, and about to take the old one's place
	damagedFile  = "memory.db.damaged-"
)

// prepareFolder makes the folder for nobody but its owner, as the journal does. One that holds other things, and no store, is
// refused: the folder is kept out of git. Then it is looked at as a stranger's.
func prepareFolder(dir string) error {
	if err := refuseForeign(dir); err != nil {
		return err
	}
	if err := private.MakeFolder(dir); err != nil {
		return err
	}
	if err := private.Check(dir); err != nil {
		return err
	}
	f, err := private.Open(filepath.Join(dir, ".gitignore"), os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString("*\n")
	return errors.Join(err, f.Close())
}

// isOurs tells whether a name is one of those that the memory or the journal gives to its files.
func isOurs(name string) bool {
	switch name {
	case "store", "store.new", "setup.lock", "drivers", "marks", "snapshots", "reserve", ".gitignore", "logs", "env", "backups":
		return true
	}
	return strings.HasPrefix(name, "memory.") || strings.HasPrefix(name, "vectors-") || strings.HasPrefix(name, "flowrun.db")
}

func refuseForeign(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	foreign := ""
	for _, e := range entries {
		if name := e.Name(); name == databaseFile || name == "store" {
			return nil
		} else if !isOurs(name) {
			foreign = name
		}
	}
	if foreign != "" {
		return fmt.Errorf("%w: the folder holds %s; name an empty folder, or one that is not there yet", ErrNotStore, foreign)
	}
	return nil
}

// writable tells whether a file can be written to, or files be made in a folder.
func writable(path string) bool {
	const write = 2 // W_OK
	return syscall.Access(path, write) == nil
}

func (s *Store) syncFolder() error {
	f, err := os.Open(s.dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// size is that of a file, 0 if there is none, or something else.
func (s *Store) size(name string) int64 {
	info, err := os.Lstat(s.path(name))
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

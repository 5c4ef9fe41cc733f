package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/memory/private/durable"
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
	if err := durable.RefuseForeign(dir, ErrNotStore, databaseFile, "store"); err != nil {
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

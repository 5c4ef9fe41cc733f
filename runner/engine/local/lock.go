package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/memory/private/durable"
)

// lockFile opens or makes a file and holds an exclusive flock on it until the file is closed, by the end of the process
// at the latest. While another holds it, it waits that long; then it fails with syscall.EWOULDBLOCK. A process that was
// stopped with the lock in its hands must not hold up all others without a word.
func lockFile(path string, wait time.Duration) (*os.File, error) {
	f, err := private.Open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	err = durable.Lock(context.Background(), f, syscall.LOCK_EX, wait)
	if err != nil {
		f.Close()
		return nil, &fs.PathError{Op: "lock", Path: path, Err: err}
	}
	return f, nil
}

// isLocked reports whether a process holds the lock of a file. No process holds the lock of a missing
// file.
func isLocked(path string) (bool, error) {
	f, err := private.Open(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	// A shared lock, so that two who look at the same moment do not take each other for the owner.
	switch err := durable.Flock(f, syscall.LOCK_SH|syscall.LOCK_NB); {
	case err == nil:
		return false, nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		return true, nil
	default:
		return false, &fs.PathError{Op: "lock", Path: path, Err: err}
	}
}

package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/runner/engine"
)

// driver is this process as an owner of runs.
type driver struct {
	epoch int64
	lock  *os.File
}

func lockPath(dir string, epoch int64) string {
	return filepath.Join(dir, driversDir, strconv.FormatInt(epoch, 10)+".lock")
}

func (e *Engine) lockPath(epoch int64) string { return lockPath(e.dir, epoch) }

// registerDriver registers the process as a driver, once, and returns its epoch.
func (e *Engine) registerDriver() (int64, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if d := e.driver.Load(); d != nil {
		return d.epoch, nil
	}
	if e.closed {
		return 0, engine.ErrClosed
	}
	var d driver
	err := e.write(func(tx *transaction) error {
		host, _ := os.Hostname()
		err := tx.readRow("INSERT INTO drivers (pid, host, started) VALUES (?, ?, ?) RETURNING epoch",
			[]any{os.Getpid(), host, int64(e.now())}, &d.epoch)
		if err != nil {
			return err
		}
		// The lock is held before the row can be seen, so that no one takes this driver for dead.
		if d.lock, err = lockFile(e.lockPath(d.epoch), 0); err != nil {
			return err
		}
		return e.removeDeadDrivers(tx, d.epoch)
	})
	if err != nil {
		if d.lock != nil {
			d.lock.Close()
		}
		return 0, fmt.Errorf("registering as a driver: %w", err)
	}
	e.driver.Store(&d)
	return d.epoch, nil
}

// driverEpoch is the process's epoch, 0 before it has one.
func (e *Engine) driverEpoch() int64 {
	if d := e.driver.Load(); d != nil {
		return d.epoch
	}
	return 0
}

// driversAlive reports whether any process drives runs of a store.
func driversAlive(dir string) (alive bool, err error) {
	epochs, err := lockFiles(dir)
	for i := 0; i < len(epochs) && err == nil && !alive; i++ {
		alive, err = isLocked(lockPath(dir, epochs[i]))
	}
	return alive, err
}

// lockFiles returns the epochs of all lock files of drivers, alive or dead.
func lockFiles(dir string) (epochs []int64, err error) {
	files, err := os.ReadDir(filepath.Join(dir, driversDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, f := range files {
		if epoch, err := strconv.ParseInt(strings.TrimSuffix(f.Name(), ".lock"), 10, 64); err == nil {
			epochs = append(epochs, epoch)
		}
	}
	return epochs, err
}

// removeDeadDrivers removes the rows of dead drivers, and all lock files that no process holds.
func (e *Engine) removeDeadDrivers(tx *transaction, mine int64) error {
	epochs, err := lockFiles(e.dir)
	if err != nil {
		return err
	}
	for _, epoch := range epochs {
		if epoch == mine {
			continue
		}
		alive, err := isLocked(e.lockPath(epoch))
		if err != nil {
			return err
		}
		if alive {
			continue
		}
		if e.leftInOrder(epoch) {
			if err := tx.releaseRuns(epoch); err != nil {
				return err
			}
		}
		if err := e.freeTurns(tx, epoch); err != nil {
			return err
		}
		if err := tx.unparkRuns(epoch); err != nil {
			return err
		}
		if _, err := tx.exec("DELETE FROM drivers WHERE epoch = ?", epoch); err != nil {
			return err
		}
		if err := os.Remove(e.lockPath(epoch)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// unregister takes the process off the list of drivers. A store that failed keeps the row; the lock goes in any case.
func (e *Engine) unregister() error {
	e.mu.Lock()
	d, orderly := e.driver.Swap(nil), !e.leftovers
	e.mu.Unlock()
	if d == nil {
		return nil
	}
	err := e.writeUrgent(func(tx *transaction) error {
		_, err := tx.exec("DELETE FROM drivers WHERE epoch = ?", d.epoch)
		if err == nil {
			err = e.freeTurns(tx, d.epoch)
		}
		if err == nil {
			err = tx.unparkRuns(d.epoch)
		}
		if err == nil && orderly { // runs that a drive could not give back at its end
			err = tx.releaseRuns(d.epoch)
		}
		return err
	})
	switch {
	case err == nil:
		err = os.Remove(e.lockPath(d.epoch))
	case orderly:
		_ = d.lock.Chmod(inOrder) // the next driver reads the file and removes it
		fallthrough
	default:
		err = nil
	}
	return errors.Join(err, d.lock.Close())
}

// inOrder is the mode of the lock file of a driver that ended all that it had begun and could not say so in the database, which
// had no room or failed. A mode takes no room. Such an end is not a death.
const inOrder = 0o400

// releaseRuns frees the runs of a driver that ended in order.
func (tx *transaction) releaseRuns(epoch int64) error {
	_, err := tx.exec("UPDATE runs SET owner = NULL, clean = 1 WHERE owner = ?", epoch)
	return err
}

// leftInOrder reports whether a former driver ended in order.
func (e *Engine) leftInOrder(epoch int64) bool {
	info, err := os.Lstat(e.lockPath(epoch))
	return err == nil && info.Mode().Perm() == inOrder
}

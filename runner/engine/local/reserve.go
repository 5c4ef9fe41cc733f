package local

import (
	crypto "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"

	"github.com/flowrun/flowrun/runner/engine"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// The reserve is a file that only takes up room, so that there is some to give back when the disk is full. It is spent on last
// words alone: what has been answered already, giving runs back, and cancels. Runs are stopped then as by Ctrl-C, for attempts
// that go on would only learn from the full disk how to fail. New work is refused, and never spends the reserve.
//
// It is a convenience and no promise: whatever filled the disk may take this room, too. Without it nothing acknowledged is
// lost and reading goes on all the same, but attempts that were answered when the room ran out are made again, and a cancel
// is refused.

const (
	// ReserveSize is the size of the reserve: the last words of several runs whose answers are as large as they may be.
	ReserveSize = 4 << 20
	// ReserveFrom is how much room there must be for the reserve to be made.
	ReserveFrom = 64 << 20
)

// replenish makes the reserve where it is missing and there is room for it; then new work is welcome again. It is called
// when a store has been open for a while, so that no short run pays for it. The bytes are random, for disks that compress.
func (e *Engine) replenish() error {
	path := filepath.Join(e.dir, reserveFile)
	d := e.options.disk
	if info, err := os.Lstat(path); err == nil && info.Size() == ReserveSize {
		e.commits.setFull(false)
		return nil
	}
	room, err := d.room(e.dir)
	if err != nil || room < ReserveFrom {
		return err
	}
	if err := d.fill(path, ReserveSize); err != nil {
		return errors.Join(err, d.remove(path))
	}
	e.commits.setFull(false)
	return nil
}

// fill makes a file of random bytes. It is not synced: the room is taken with the write.
func (d *disk) fill(path string, size int) error {
	f, err := d.open(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	var seed [32]byte
	crypto.Read(seed[:])
	noise := rand.NewChaCha8(seed)
	for block := make([]byte, 64<<10); size > 0 && err == nil; size -= len(block) {
		noise.Read(block)
		_, err = f.Write(block)
	}
	return errors.Join(err, f.Close())
}

// spend gives the reserve up, and tells whether there was one.
func (d *disk) spend(dir string) bool { return d.remove(filepath.Join(dir, reserveFile)) == nil }

// checkSpace refuses new work while the disk is full, and where the database has been taken away.
func (e *Engine) checkSpace() error {
	if err := e.checkFile(); err != nil {
		return e.commits.fail(err)
	}
	if !e.commits.isFull() {
		return nil
	}
	if err := e.replenish(); err != nil {
		return err
	}
	if e.commits.isFull() {
		return engine.ErrFull
	}
	return nil
}

// isFull tells whether an error is that there is no room on the disk. SQLite has another word for it where the file that its
// processes share cannot grow.
func isFull(err error) bool {
	code := 0
	if s := (*sqlite.Error)(nil); errors.As(err, &s) {
		code = s.Code()
	}
	return code&0xff == sqlite3.SQLITE_FULL || code == sqlite3.SQLITE_IOERR_SHMSIZE || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// full says of an error that it is one of room.
func (e *Engine) full(err error) error {
	if !isFull(err) || errors.Is(err, engine.ErrFull) {
		return err
	}
	return fmt.Errorf("%w: %s has no room left (%w)", engine.ErrFull, e.dir, err)
}

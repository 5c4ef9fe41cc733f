package local

import (
	crypto "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/memory/private/durable"
	"github.com/flowrun/flowrun/runner/engine"
)

// The reserve is a file that only occupies room, so that the store can free some when the disk is
// full. The room is used only for urgent writes: existing answers, giving runs back, and cancels.
// Runs are then stopped as by Ctrl-C, because further attempts would only fail on the full disk.
// New work is refused, and never uses the reserve.
//
// The reserve is a convenience, not a promise: the program that filled the disk may take this room,
// too. Without the reserve nothing acknowledged is lost and reading still works, but attempts that
// were answered when the room ran out are repeated, and a cancel is refused.

const (
	// ReserveSize is the size of the reserve in bytes: the urgent writes of several runs with
	// answers of the largest size.
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
	if err := d.fillReserve(path, ReserveSize); err != nil {
		return errors.Join(err, d.remove(path))
	}
	e.commits.setFull(false)
	return nil
}

// fillReserve makes a file of random bytes. It is not synced: the room is taken with the write.
func (d *disk) fillReserve(path string, size int) error {
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

// spendReserve removes the reserve, and reports whether there was one.
func (d *disk) spendReserve(dir string) bool { return d.remove(filepath.Join(dir, reserveFile)) == nil }

// checkSpace refuses new work while the disk is full, and where the database has been taken away.
func (e *Engine) checkSpace() error {
	if err := e.checkFile(); err != nil {
		return e.commits.failStore(err)
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

// explainFull marks an error about missing room.
func (e *Engine) explainFull(err error) error {
	if !durable.IsFull(err) || errors.Is(err, engine.ErrFull) {
		return err
	}
	return fmt.Errorf("%w: %s has no room left (%w)", engine.ErrFull, e.dir, err)
}

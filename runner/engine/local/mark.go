package local

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/runner/journal"
)

// markSize is the size of a mark: the number of the last event, the link after it, and a checksum over both and the run.
const markSize = 8 + len(journal.Link{}) + 8

// markSync is how often a mark is synced at most. It finds damage to the database, which the database itself would not
// notice (a lost log, a restored copy); it does not guard against power loss, so it need not cost a sync a commit.
const markSync = time.Second

// mark is the high-water mark of one run's journal, in a file of its own. A mark that lags is fine; one that is ahead of
// the journal proves that events are missing.
type mark struct {
	run    string
	file   file
	synced time.Time
	buf    [markSize]byte
}

func (e *Engine) markPath(run string) string { return filepath.Join(e.dir, marksDir, run) }

func (d *disk) openMark(path, run string) (*mark, error) {
	f, err := d.open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	return &mark{run: run, file: f, synced: time.Now()}, nil
}

// writeMark writes the mark in place, in one write below the size that disks tear.
func (m *mark) writeMark(seq uint64, link journal.Link) error {
	encodeMark(&m.buf, m.run, seq, link)
	if _, err := m.file.WriteAt(m.buf[:], 0); err != nil {
		return err
	}
	if time.Since(m.synced) < markSync {
		return nil
	}
	m.synced = time.Now()
	return m.file.Sync()
}

// close syncs the mark only if a sync is due: thousands of runs that wake together would wait for a sync each.
func (m *mark) close() (err error) {
	if time.Since(m.synced) >= markSync {
		err = m.file.Sync()
	}
	return errors.Join(err, m.file.Close())
}

func encodeMark(buf *[markSize]byte, run string, seq uint64, link journal.Link) {
	binary.LittleEndian.PutUint64(buf[:], seq)
	copy(buf[8:], link[:])
	h := sha256.New()
	h.Write(buf[:markSize-8])
	h.Write([]byte(run))
	copy(buf[markSize-8:], h.Sum(nil))
}

// checkMark compares the mark with where the journal ends.
func checkMark(path, run string, seq uint64, link journal.Link) error {
	marked, at, err := readMark(path, run)
	if err != nil {
		return err
	}
	return compareMark(run, marked, at, seq, link)
}

// readMark reads a mark; one that is not there or was cut off says nothing, which is 0.
func readMark(path, run string) (seq uint64, link journal.Link, err error) {
	b, err := private.ReadFile(path, int64(markSize))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, link, nil
	}
	var have, want [markSize]byte
	if err != nil || copy(have[:], b) < markSize {
		return 0, link, err
	}
	seq, link = binary.LittleEndian.Uint64(have[:]), journal.Link(have[8:])
	if encodeMark(&want, run, seq, link); have != want {
		return 0, link, nil
	}
	return seq, link, nil
}

func compareMark(run string, marked uint64, at journal.Link, seq uint64, link journal.Link) error {
	switch {
	case marked > seq:
		return fmt.Errorf("%w: run %s: its journal ends at event %d, but events up to %d were stored", journal.ErrBroken, run, seq, marked)
	case marked == seq && at != link:
		return fmt.Errorf("%w: run %s: event %d is not the one that was stored (link %s, stored was %s)", journal.ErrBroken, run, seq, link, at)
	}
	return nil
}

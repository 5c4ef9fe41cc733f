package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"os"
	"syscall"

	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/memory/private/durable"
)

// mark is the high-water mark of the store, in a file of its own: the last record that was acknowledged. One that lags is fine;
// one that is ahead of the database proves that records are missing (a lost log, a restored copy), which the database itself
// would not notice. It does not guard against power loss, so it costs no sync.
type mark struct {
	seq   uint64
	sum   [sumSize]byte // of the record
	store storeID
}

const markSize = 8 + sumSize + len(storeID{}) + sumSize

func (m mark) encode() []byte {
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, markSize), m.seq)
	b = append(append(b, m.sum[:]...), m.store[:]...)
	check := sha256.Sum256(b)
	return append(b, check[:sumSize]...)
}

// readMark reads a mark. One that is not there, or was damaged, says nothing, which is the zero value.
func readMark(f io.ReaderAt) (m mark) {
	b := make([]byte, markSize)
	if n, _ := f.ReadAt(b, 0); n < markSize {
		return mark{}
	}
	m.seq = binary.LittleEndian.Uint64(b)
	copy(m.sum[:], b[8:])
	copy(m.store[:], b[8+sumSize:])
	if !bytes.Equal(b, m.encode()) {
		return mark{}
	}
	return m
}

// raise writes a mark unless the file has a later one of the same store: two processes may commit in one order and come here in
// the other.
func (m mark) raise(f *os.File) error {
	if err := durable.Flock(f, syscall.LOCK_EX); err != nil {
		return err
	}
	defer durable.Flock(f, syscall.LOCK_UN)
	if have := readMark(f); have.store == m.store && have.seq >= m.seq {
		return nil
	}
	return m.set(f)
}

// set writes a mark in place, in one write below the size that disks tear.
func (m mark) set(f *os.File) error {
	_, err := f.WriteAt(m.encode(), 0)
	return err
}

// mark reads the store's mark where its file is not open.
func (s *Store) mark() mark {
	f, err := private.Open(s.path(markFile), os.O_RDONLY)
	if err != nil {
		return mark{}
	}
	defer f.Close()
	return readMark(f)
}

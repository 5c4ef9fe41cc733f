package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"sync"
	"syscall"

	"github.com/flowrun/flowrun/memory/private"
)

// The file is a header and records of one size. Header: the magic word, half a SHA-256 of the model's name, the dimension, a
// checksum. Record: the key, the packed vector, a checksum over both. A record that does not verify is passed over.
const (
	magic      = "flowvec1"
	headerSize = len(magic) + 16 + 4 + sumSize
	sumSize    = 4
	// MaxDim is the highest dimension.
	MaxDim = 1 << 14
)

// castagnoli is made when it is first used: it takes longer than the start of most packages.
var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

func recordSize(dim int) int { return len(Key{}) + scaleSize + dim + sumSize }

func appendSum(b []byte, from int) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[from:], castagnoli()))
}

func appendRecord(b []byte, key Key, v []float32, dim int) []byte {
	start := len(b)
	return appendSum(pack(append(b, key[:]...), v, dim), start)
}

func header(model string, dim int) []byte {
	name := sha256.Sum256([]byte(model))
	b := append([]byte(magic), name[:16]...)
	return appendSum(binary.LittleEndian.AppendUint32(b, uint32(dim)), 0)
}

// catchUp reads what the file has beyond what was read before. A file of another model says nothing, and is left for write to
// begin anew.
func (c *Cache) catchUp() error {
	if c.read == 0 {
		head := make([]byte, headerSize)
		if _, err := c.file.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		dim := int(binary.LittleEndian.Uint32(head[len(magic)+16:]))
		if c.dim != 0 {
			dim = c.dim
		}
		if dim == 0 || dim > MaxDim || !bytes.Equal(head, header(c.model, dim)) {
			return nil
		}
		c.dim, c.read = dim, int64(headerSize)
	}
	info, err := c.file.Stat()
	if err != nil || info.Size() <= c.read {
		return err
	}
	size := int64(recordSize(c.dim))
	room := int64(c.limit)*size + int64(headerSize) // what lies beyond was not written by us
	news := make([]byte, max(0, min(info.Size(), room)-c.read)/size*size)
	if _, err := c.file.ReadAt(news, c.read); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	c.read += int64(len(news))
	c.add(news, int(size))
	return nil
}

// add takes up the records that verify and are not known yet. What does not verify stays as a hole.
func (c *Cache) add(news []byte, size int) {
	start := len(c.records)
	if c.records == nil {
		c.records = news // at open, without a copy
		c.at = make(map[Key]int, len(news)/size)
	} else {
		c.records = append(c.records, news...)
	}
	for at := start; at < len(c.records); at += size {
		r := c.records[at : at+size]
		if crc32.Checksum(r[:size-sumSize], castagnoli()) != binary.LittleEndian.Uint32(r[size-sumSize:]) {
			continue
		}
		if _, found := c.at[Key(r)]; !found {
			c.at[Key(r)] = at
		}
	}
}

// write adds records to the file, made or begun anew where it must be, behind what others added meanwhile.
func (c *Cache) write(fresh []byte) error {
	if c.file == nil {
		f, err := private.Open(c.path, os.O_RDWR|os.O_CREATE)
		if err != nil {
			return err
		}
		c.file = f
	}
	if err := c.flock(syscall.LOCK_EX); err != nil {
		return err
	}
	defer c.flock(syscall.LOCK_UN)
	if err := c.catchUp(); err != nil {
		return err
	}
	if c.read == 0 { // it is new, or of another model
		if err := c.file.Truncate(0); err != nil {
			return err
		}
		if _, err := c.file.WriteAt(header(c.model, c.dim), 0); err != nil {
			return err
		}
		c.read = int64(headerSize)
	}
	// Behind the last whole record: one that was cut off by the death of its writer is written over.
	_, err := c.file.WriteAt(fresh, c.read)
	if err == nil {
		c.read += int64(len(fresh))
	}
	return err
}

func (c *Cache) flock(how int) error {
	for {
		err := syscall.Flock(int(c.file.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

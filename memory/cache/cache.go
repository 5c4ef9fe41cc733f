// Package cache keeps the vectors of texts in a flat file, so that they are made once.
//
// It knows files and numbers, and nothing of entries, texts or what made the vectors: a key is a hash that the caller makes,
// and a model a word. It must never import anything else of flowrun but how private files are opened.
//
// What always holds:
//
//   - The file is never the truth. One that is missing, cut, damaged or of another model is a cache that knows less; so
//     nothing is synced, and what Get returns is right or absent.
//   - Get gives the same vector whether it was read, or put just now: the rounded one, as [Round] gives it.
//   - Several processes may have one file open. Each adds under a flock and sees what the others added when it adds.
//
// Enter at [Open]. The layout is in file.go, the rounding in round.go, small facts beside the vectors in note.go.
package cache

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"github.com/flowrun/flowrun/memory/private"
)

// Key is a hash of the text that a vector stands for.
type Key = [16]byte

// MaxVectors is how many vectors a file takes: what is put beyond it is remembered until Close. With 512 numbers each it
// is about 550 MB.
const MaxVectors = 1 << 20

// Cache is an open cache; its methods may be called concurrently.
type Cache struct {
	path  string
	model string
	limit int // MaxVectors, but in tests

	mu      sync.RWMutex
	file    *os.File // nil: nothing is written
	sealed  bool     // it may be read alone
	dim     int
	records []byte // one after the other
	at      map[Key]int
	read    int64 // how far into the file
}

// Open opens a file of vectors of one model and dimension, and makes it with the first Put. dim may be 0 as long as it is not
// known. What cannot be written to is read, and Put keeps what it adds until Close; an error means that the file cannot be reached at all.
func Open(path, model string, dim int) (*Cache, error) {
	c := &Cache{path: path, model: model, dim: dim, at: map[Key]int{}, limit: MaxVectors}
	f, err := private.Open(path, os.O_RDWR)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		f, err = private.Open(path, os.O_RDONLY)
		c.sealed = true
	}
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	c.file = f
	if err := c.catchUp(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return c, nil
}

// Close gives the file up.
func (c *Cache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file == nil {
		return nil
	}
	f := c.file
	c.file = nil
	return f.Close()
}

// Get gives the vector of a key. It is nil, and found, where Put was told that the text has none. It is the caller's to keep.
func (c *Cache) Get(key Key) (v []float32, found bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	at, found := c.at[key]
	if !found {
		return nil, false
	}
	return unpack(c.records[at+len(key) : at+recordSize(c.dim)-sumSize]), true
}

// Put adds vectors; a nil one says that the text has none. A key that is there keeps its vector, and a vector of another
// dimension, or with a number that is none, is an error and nothing is added. Without an error Get knows them; after one of
// the file, too, but the next process will not.
func (c *Cache) Put(keys []Key, vectors [][]float32) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.check(keys, vectors); err != nil || c.dim == 0 {
		return err
	}
	var fresh []byte
	for i, key := range keys {
		if _, found := c.at[key]; found {
			continue
		}
		c.at[key] = len(c.records)
		c.records = appendRecord(c.records, key, vectors[i], c.dim)
		fresh = append(fresh, c.records[c.at[key]:]...)
	}
	if len(fresh) == 0 || len(c.at) > c.limit || c.sealed {
		return nil
	}
	return c.write(fresh)
}

// Refresh takes up what other processes have added.
func (c *Cache) Refresh() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file == nil { // somebody may have made it since
		f, err := private.Open(c.path, os.O_RDWR)
		if err != nil {
			return nil
		}
		c.file = f
	}
	return c.catchUp()
}

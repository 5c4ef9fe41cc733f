package memory

import (
	"crypto/sha256"
	"path/filepath"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/memory/cache"
)

// key is the hash of a text.
type key = cache.Key

func keyOf(text string) key {
	sum := sha256.Sum256([]byte(text))
	return key(sum[:len(key{})])
}

// memo knows the vectors of texts for one model. Every vector is as the file gives it, so that nothing depends on whether it
// had to be made anew.
type memo struct {
	path     string
	file     *cache.Cache // nil: it can't be had
	readOnly bool
	warn     func(string)
	told     sync.Once // that the file takes nothing

	mu    sync.RWMutex
	fresh map[key][]float32 // what the file is not told; a nil vector is that of a text that has none
}

// openMemo reads what was kept. A file that can't be had is told, and is not missed.
func openMemo(dir, model string, dim int, o *Options) *memo {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, model)
	m := &memo{path: filepath.Join(dir, "vectors-"+name+".bin"), readOnly: o.ReadOnly, warn: o.Warn, fresh: map[key][]float32{}}
	f, err := cache.Open(m.path, model, dim)
	if err != nil {
		m.warn("the vectors of the memory are computed again each time: " + err.Error())
		return m
	}
	m.file = f
	return m
}

// refresh takes up what other processes have made.
func (m *memo) refresh() {
	if m != nil && m.file != nil {
		_ = m.file.Refresh() // else they are made anew
	}
}

// get finds the vector of a text. A text that is known to have none is known, with nil.
func (m *memo) get(k key) (v []float32, known bool) {
	if m.file != nil {
		if v, known := m.file.Get(k); known {
			return v, true
		}
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	v, known = m.fresh[k]
	return v, known
}

// put keeps vectors; nil ones are those of texts that have none.
func (m *memo) put(keys []key, vectors [][]float32) {
	if m.file != nil && !m.readOnly {
		if err := m.file.Put(keys, vectors); err != nil {
			m.told.Do(func() { m.warn("the vectors of the memory could not be kept: " + err.Error()) })
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, k := range keys {
		if m.file != nil {
			if _, known := m.file.Get(k); known {
				continue
			}
		}
		if m.fresh[k] = nil; vectors[i] != nil {
			m.fresh[k] = cache.Round(vectors[i])
		}
	}
}

func (m *memo) note(name string) ([]byte, bool) {
	if m.file == nil {
		return nil, false
	}
	return m.file.Note(name)
}

func (m *memo) setNote(name string, b []byte) {
	if m.file != nil && !m.readOnly {
		if err := m.file.SetNote(name, b); err != nil {
			m.told.Do(func() { m.warn("the direction of the word vectors could not be kept: " + err.Error()) })
		}
	}
}

func (m *memo) close() {
	if m.file != nil {
		_ = m.file.Close() // it can be made anew
	}
}

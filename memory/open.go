package memory

import (
	"context"
	"sync"
	"time"

	"github.com/flowrun/flowrun/memory/embed"
	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/store"
)

// Options say how a memory works. The zero value searches by words alone, and consolidates by hand alone.
type Options struct {
	Embedder    embed.Embedder // nil: no vectors of a model
	WordVectors bool           // the small word vectors beside the embedder's, or alone
	ReadOnly    bool           // writes fail with [ErrReadOnly], and nothing on disk changes
	Now         func() time.Time
	ShortTerm   ShortTerm
	// ConsolidateEvery is after how many learnings of an agent they are consolidated; 0 leaves it to [Memory.Consolidate].
	ConsolidateEvery int
	Warn             func(string) // told what did not stop the memory; calls may come from any goroutine
}

// ShortTerm bounds short-term memory: the newest tasks, and how old they may be; whichever is fewer.
type ShortTerm struct {
	Tasks int           // 0: 20
	Age   time.Duration // 0: 7 days
}

func (o *Options) fill() {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	if o.ShortTerm.Tasks == 0 {
		o.ShortTerm.Tasks = 20
	}
	if o.ShortTerm.Age == 0 {
		o.ShortTerm.Age = 7 * 24 * time.Hour
	}
}

// Memory is an open memory. It is closed by whoever opened it.
type Memory struct {
	o     Options
	store *store.Store

	mu      sync.RWMutex // guards index; taken after the store's own lock, never before it
	index   *index
	vectors *vectors
	work    background
	longest time.Duration // see catchUp
}

// Open opens the memory of a store's folder. The folder is made when it is missing, unless o.ReadOnly: then the error is
// [store.ErrNoStore]. Entries that have no vectors yet get them in the background.
func Open(dir string, o Options) (*Memory, error) {
	o.fill()
	var v *vectors
	var aside sync.WaitGroup
	aside.Go(func() { v = openVectors(dir, &o) })
	s, err := store.Open(dir, store.Options{ReadOnly: o.ReadOnly, Warn: o.Warn})
	aside.Wait()
	if err != nil {
		v.close()
		return nil, err
	}
	m := &Memory{o: o, store: s, vectors: v, index: newIndex(v), longest: longest}
	m.store.View(m.sync)
	m.work.start(m)
	return m, nil
}

// Close ends the background work, which the next Open goes on with, and closes the store.
func (m *Memory) Close() error {
	m.work.stop()
	m.vectors.close()
	return m.store.Close()
}

// sync brings the index up to the state. It is called under the store's lock.
func (m *Memory) sync(s *entry.State) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.index.sync(s)
}

// refresh folds in what other processes have written.
func (m *Memory) refresh(ctx context.Context) error {
	changed, err := m.store.Refresh(ctx)
	if err != nil || !changed {
		return err
	}
	m.vectors.refresh()
	m.store.View(m.sync)
	m.work.wake()
	return nil
}

func (m *Memory) now() time.Time { return m.o.Now().UTC() }

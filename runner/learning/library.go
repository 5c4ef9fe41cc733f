package learning

import (
	"encoding/json"
	"path/filepath"
	"sync"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/embed"
	"github.com/flowrun/flowrun/runner/event"
)

// Replay replays a run that has ended, so that its pending learnings are learned. begin is told the run's program and the
// program's folder, and says whether to go on; each sees every batch of events. Replay reports whether each has seen all of them; a run
// that has not ended is left to its next driver. An error that wraps engine.ErrNoRun says that the run is gone.
type Replay func(run string, begin func(p *ir.Program, dir string) bool, each func([]event.Event, *event.Reaction)) (whole bool, err error)

// Library opens the memories of the runs of one store. It is safe for concurrent use.
type Library struct {
	store   string
	replay  Replay
	pending pendingRuns

	mu      sync.Mutex
	shelves map[string]*shelf
}

// New makes a library. store is the folder of the runs, and of the memory of a program that names no other folder. replay may be nil:
// then nothing is learned from the journals of other processes.
func New(store string, replay Replay) *Library {
	return &Library{store: store, replay: replay, pending: pendingRuns{dir: filepath.Join(store, pendingDir)}, shelves: map[string]*shelf{}}
}

// shelf is an open memory, and the bindings that use it.
type shelf struct {
	key    string
	opened sync.Once
	memory *memory.Memory
	err    error

	mu    sync.Mutex
	users map[*Binding]bool
}

// openShelf opens a memory as a program describes it, or gives the one that is open already.
func (l *Library) openShelf(b *Binding) (*shelf, error) {
	dir := Dir(&b.says, l.store, b.dir)
	key, err := shelfKey(dir, b.says)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	s := l.shelves[key]
	if s == nil {
		s = &shelf{key: key, users: map[*Binding]bool{}}
		l.shelves[key] = s
	}
	s.addUser(b)
	l.mu.Unlock()
	s.opened.Do(func() { // without the library's lock: other memories can be opened meanwhile
		o, err := Options(&b.says)
		if err == nil {
			o.Warn = s.warnUsers
			s.memory, err = memory.Open(dir, o)
		}
		s.err = err
	})
	if s.err != nil {
		_ = l.giveBack(s, b)
		return nil, s.err
	}
	return s, nil
}

// shelfKey is equal for programs that can share an open memory.
func shelfKey(dir string, says ir.Memory) (string, error) {
	says.Editor, says.Store, says.WorkingRefresh = "", "", 0 // the open memory does not depend on these
	text, err := json.Marshal(says)
	return dir + "\x00" + string(text), err
}

// giveBack ends the use of a memory. The last user closes the memory.
func (l *Library) giveBack(s *shelf, b *Binding) error {
	l.mu.Lock()
	last := s.removeUser(b)
	if last && l.shelves[s.key] == s {
		delete(l.shelves, s.key)
	}
	l.mu.Unlock()
	if !last || s.memory == nil {
		return nil
	}
	return s.memory.Close()
}

func (s *shelf) addUser(b *Binding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users[b] = true
}

// removeUser reports whether b is the last user. The last user stays, so that it hears the warnings of the memory that it closes.
func (s *shelf) removeUser(b *Binding) (last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.users) > 1 {
		delete(s.users, b)
		return false
	}
	return true
}

// warnUsers tells all who use the memory.
func (s *shelf) warnUsers(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for b := range s.users { // any order: each has its own list
		b.Warn(text)
	}
}

// Dir is the folder of a program's memory: the folder that the program names, or else that of the runs. program is the program's own
// folder. m may be nil.
func Dir(m *ir.Memory, store, program string) string {
	switch {
	case m == nil || m.Store == "":
		return store
	case filepath.IsAbs(m.Store):
		return m.Store
	}
	return filepath.Join(program, m.Store)
}

// Options are the options of a program's memory, with their defaults.
func Options(m *ir.Memory) (memory.Options, error) {
	o := memory.Options{WordVectors: m.Embedder == nil || m.Embedder.Provider != "none", ConsolidateEvery: schema.DefaultConsolidateEvery, ShortTerm: memory.ShortTerm{Age: m.ShortTermAge}}
	if m.ConsolidateEvery != nil {
		o.ConsolidateEvery = *m.ConsolidateEvery
	}
	if m.ShortTermTasks != nil {
		o.ShortTerm.Tasks = *m.ShortTermTasks
	}
	var err error
	o.Embedder, err = NewEmbedder(m.Embedder)
	return o, err
}

// NewEmbedder makes the embedder that a program names. nil, for none, stands for a search by words alone.
func NewEmbedder(e *ir.Embedder) (embed.Embedder, error) {
	if e == nil {
		return embed.Default(), nil
	}
	return embed.New(embed.Config{Name: e.Provider, Model: e.Model, URL: e.BaseURL, KeyEnv: e.KeyEnv})
}

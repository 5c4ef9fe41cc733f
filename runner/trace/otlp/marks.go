package otlp

import (
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/flowrun/flowrun/memory/private"
)

// Marks are files that say which runs have a trace to be sent, so that the trace of a run is not lost when its driver dies between the end
// of the run and the answer of the collector: the next process that sends traces finds the mark. A mark is made when a driver begins with a
// run, and removed when the collector has taken the trace. The zero value is of no store. Safe for concurrent use.
type Marks struct {
	dir  string
	mu   sync.Mutex
	made map[string]bool
}

const (
	// MarksDir is the folder of the marks, below the store.
	MarksDir = "traces"
	// MaxMarks bounds the runs that a process sends for others, and MarkFor how long a mark is kept that no collector took.
	MaxMarks = 100
	MarkFor  = 24 * time.Hour
)

// NewMarks are the marks of a store.
func NewMarks(store string) *Marks {
	return &Marks{dir: filepath.Join(store, MarksDir), made: map[string]bool{}}
}

// Begin marks a run. The id is one that the store has made. Without a mark the trace is sent all the same, if nothing dies.
func (m *Marks) Begin(run string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.made[run] || private.Mkdir(m.dir) != nil {
		return
	}
	if f, err := private.Open(filepath.Join(m.dir, run), os.O_RDWR|os.O_CREATE); err == nil {
		m.made[run] = true
		f.Close()
	}
}

// Done takes the mark of a run away.
func (m *Marks) Done(run string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.made, run)
	_ = os.Remove(filepath.Join(m.dir, run)) // one that is left is looked at again
}

// Left lists the runs that are marked, [MaxMarks] at most. It removes marks that are older than [MarkFor].
func (m *Marks) Left() (runs []string) {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil || !info.Mode().IsRegular():
		case time.Since(info.ModTime()) > MarkFor:
			_ = os.Remove(filepath.Join(m.dir, e.Name()))
		case len(runs) < MaxMarks:
			runs = append(runs, e.Name())
		}
	}
	return runs
}

package learning

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/flowrun/flowrun/memory/private"
)

// pendingDir is a folder below the store. It holds an empty file for each run with pending learnings: the file is made before the run's
// first task begins, and removed when the memory has learned from all of the run's tasks.
const pendingDir = "learning"

// pendingRuns are the runs with pending learnings. It is safe for concurrent use.
type pendingRuns struct {
	dir string

	mu   sync.Mutex
	ours map[string]bool // the runs of the bindings of this process
}

// begin notes a run, durably, the first time.
func (p *pendingRuns) begin(run string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ours[run] {
		return nil
	}
	if err := private.Mkdir(p.dir); err != nil {
		return err
	}
	f, err := private.Open(filepath.Join(p.dir, run), os.O_CREATE|os.O_WRONLY)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close(), syncDir(p.dir))
	}
	if err != nil {
		return err
	}
	if p.ours == nil {
		p.ours = map[string]bool{}
	}
	p.ours[run] = true
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// isNoted reports whether there is a note of a run.
func (p *pendingRuns) isNoted(run string) bool {
	_, err := os.Stat(filepath.Join(p.dir, run))
	return err == nil
}

// settle removes the note of a run.
func (p *pendingRuns) settle(run string) error {
	if err := os.Remove(filepath.Join(p.dir, run)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// release leaves a run, with its note if there still is one, to whoever looks for pending runs next.
func (p *pendingRuns) release(run string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.ours, run)
}

// others lists the runs that other processes have noted, or closed bindings of this process.
func (p *pendingRuns) others() (runs []string) {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return nil // most often there is no folder
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range entries {
		if !p.ours[e.Name()] && e.Type().IsRegular() {
			runs = append(runs, e.Name())
		}
	}
	return runs
}

package learning

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/runner/executor/recall"
	"github.com/flowrun/flowrun/runner/tasks"
)

// Binding is the memory of a tree of runs, as their program describes it. The memory is opened when the first attempt needs it; most
// programs never need one. It is safe for concurrent use.
type Binding struct {
	library *Library
	says    ir.Memory
	dir     string         // the program's folder
	program *tasks.Program // nil where no agent has a memory
	refresh time.Duration
	queue   queue
	failed  map[string]bool // runs with a learning that could not be written; only the goroutine of the queue uses it

	opening sync.Mutex
	shelf   *shelf
	err     error
	tried   bool

	mu    sync.Mutex      // guards program and the fields below; nothing waits under it
	runs  map[string]bool // runs with pending learnings
	told  []string        // warnings
	folds map[string]*runFold
	ended string  // the last run that has ended, and that the memory has learned from
	known Pending // of an earlier binding of the tree, without the runs that have ended since
}

// Pending are the runs with pending learnings of a tree whose binding is suspended, and how many tasks of each the memory has
// learned from.
type Pending map[string]int

// Bind describes the memory of a tree of runs. dir is the folder of their program, and known the result of the suspended binding of
// the tree, if there was one. The binding must be closed or suspended.
func (l *Library) Bind(p *ir.Program, dir string, known Pending) *Binding {
	b := &Binding{library: l, dir: dir, runs: map[string]bool{}, folds: map[string]*runFold{}, known: maps.Clone(known)}
	for run := range known { // any order: it fills a set
		b.runs[run] = true
	}
	if p.Memory != nil {
		b.says = *p.Memory
	}
	if b.refresh = b.says.WorkingRefresh; b.refresh == 0 {
		b.refresh, _ = time.ParseDuration(schema.DefaultWorkingRefresh)
	}
	if learns := func(a ir.Agent) bool { return a.Memory != nil }; slices.ContainsFunc(p.Agents, learns) { // it takes 25 MiB for 10,000 steps
		b.program = tasks.NewProgram(p)
	}
	b.queue.learn, b.queue.finish = b.learnFrom, b.learnFromOthers
	return b
}

// maxTold bounds how many warnings a binding keeps.
const maxTold = 8

// Warn keeps a warning until [Binding.Close]. Of many, it keeps the first few.
func (b *Binding) Warn(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.told) < maxTold && !slices.Contains(b.told, text) {
		b.told = append(b.told, text)
	}
}

var errClosed = errors.New("the memory is closed")

// Open gives the memory on behalf of a run, and opens it the first time. Before that, a durable note says that learnings of the run are
// pending, so that they are made up for where the memory cannot be opened now.
func (b *Binding) Open(run string) (*memory.Memory, error) {
	b.opening.Lock()
	defer b.opening.Unlock()
	if !b.isPending(run) {
		if err := b.library.pending.begin(run); err != nil {
			b.Warn("what a crash leaves unlearned of run " + run + " will not be made up for: " + err.Error())
		} else {
			b.setPending(run)
		}
	}
	if !b.tried {
		b.tried = true
		b.shelf, b.err = b.library.openShelf(b)
	}
	if b.shelf == nil {
		return nil, b.err
	}
	return b.shelf.memory, nil
}

// isPending reports whether learnings of a run are noted as pending.
func (b *Binding) isPending(run string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.runs[run]
}

func (b *Binding) setPending(run string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.runs[run] = true
}

// Memory gives the memory to executors.
func (b *Binding) Memory(run string) (recall.Memory, error) {
	m, err := b.Open(run)
	if err != nil {
		return nil, err
	}
	return attempts{m, b.refresh, b.queue.settle}, nil
}

// Learn waits until the memory has learned from all tasks that have ended, and then from the journals of other processes that left
// learnings pending. It returns the last run that has ended, or "". Watch must not be called any more.
func (b *Binding) Learn() (ended string) {
	b.queue.close()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ended
}

// Close waits as [Binding.Learn] does, closes the memory unless other bindings use it, and returns the warnings. A later call
// does nothing.
func (b *Binding) Close() (warnings []string) {
	b.Learn()
	return b.closeMemory()
}

func (b *Binding) closeMemory() (warnings []string) {
	b.opening.Lock()
	s := b.shelf
	b.shelf, b.err, b.tried = nil, errClosed, true
	b.opening.Unlock()
	if s != nil {
		if err := b.library.giveBack(s, b); err != nil {
			b.Warn(err.Error())
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for run := range b.runs { // any order: it empties a set
		b.library.pending.release(run)
	}
	b.runs = map[string]bool{}
	warnings, b.told = b.told, nil
	return warnings
}

// Misses reports whether something that is to be learned from a run was not learned: the note of it is still there. It is for runs that have ended,
// after Settle.
func (b *Binding) Misses(run string) bool { return b.library.pending.isNoted(run) }

// Idle reports whether the memory has learned from all tasks that have ended by now.
func (b *Binding) Idle() bool { return b.queue.idle() }

// Settle waits until the memory has learned from all tasks that have ended by now.
func (b *Binding) Settle() { b.queue.settle(context.Background()) }

// Suspend closes the memory as [Binding.Close] does, for a tree that goes on in this process later. The binding must be idle, and no run
// of the tree may be driven. The pending learnings of runs that have not ended stay those of this process until a later binding of
// the tree is closed, or [Library.Leave].
func (b *Binding) Suspend() (pending Pending, warnings []string) {
	b.queue.closeUnfinished()
	b.mu.Lock()
	for run := range b.runs { // any order: it fills a map
		n, goesOn := b.known[run]
		if f := b.folds[run]; f != nil { // driven since
			if n, goesOn = max(n, f.tasks), true; f.behind || b.failed[run] {
				n = 0 // the next drive replays the run, and the binding learns from all of its tasks
			}
		}
		if !goesOn {
			continue
		}
		if pending == nil {
			pending = Pending{}
		}
		pending[run] = n
		delete(b.runs, run)
	}
	b.mu.Unlock()
	return pending, b.closeMemory()
}

// Leave leaves the pending learnings of a suspended binding to whoever looks for them next.
func (l *Library) Leave(pending Pending) {
	for run := range pending { // any order: it empties a set
		l.pending.release(run)
	}
}

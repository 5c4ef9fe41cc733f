package runner

import (
	"context"
	"fmt"
	"sync"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor/recall"
	"github.com/flowrun/flowrun/runner/journal"
)

// maxServed is how many trees of runs have an open memory here that other processes drive. One more closes that which was not used for the
// longest time, if nobody uses it.
const maxServed = 64

// served are the trees of runs of which this process serves the memory, and which other processes drive. It learns from their journals: from what
// a run and its callers have done before the run recalls, and from all of a run when it has ended.
type served struct {
	place func(dir string) (string, error) // of the program of a run on this machine

	mu    sync.Mutex
	trees map[string]*servedTree // by run, and by the first run of the tree
	uses  int64
}

// servedTree is a run and the runs that it calls.
type servedTree struct {
	root    string
	session *Session
	users   int   // of now
	used    int64 // the number of the last use
	ended   bool  // the memory has learned from the first run, which has ended

	mu    sync.Mutex
	pasts map[string]*servedRun
}

// servedRun is how far the journal of a run was read.
type servedRun struct {
	*Past
	parent string
}

// MemoryBy has the executors of the service use the memory that a function returns for a run.
func (s *Service) MemoryBy(open func(run string) recall.Memory) { s.memoryBy = open }

// ServeMemory lets the service serve the memory of runs that other processes drive. The host must be attached. place returns the folder of this
// machine for that of a program.
func (s *Service) ServeMemory(place func(dir string) (string, error)) { s.served.place = place }

// ServedMemory is the memory of a run that another process drives.
func (s *Service) ServedMemory(run string) recall.Memory { return servedMemory{s, run} }

type servedMemory struct {
	service *Service
	run     string
}

// open gives the memory, and has it learn from what the run and its callers have done. What cannot be read now is learned later.
func (m servedMemory) open(ctx context.Context, learns bool) (recall.Memory, func(), error) {
	t, err := m.service.enterServed(ctx, m.run)
	if err != nil {
		return nil, nil, err
	}
	leave := func() { m.service.leaveServed(t) }
	if learns {
		for run := m.run; run != ""; {
			r, err := m.service.catchUp(ctx, t, run)
			if err != nil {
				break
			}
			run = r.parent
		}
	}
	memory, err := t.session.memory.Memory(m.run)
	if err != nil {
		leave()
		return nil, nil, err
	}
	return memory, leave, nil
}

// Recall implements recall.Memory.
func (m servedMemory) Recall(ctx context.Context, q recall.Ask) (recall.Found, error) {
	memory, leave, err := m.open(ctx, true)
	if err != nil {
		return recall.Found{}, err
	}
	defer leave()
	return memory.Recall(ctx, q)
}

// Search implements recall.Memory.
func (m servedMemory) Search(ctx context.Context, q recall.Search) (recall.Result, error) {
	memory, leave, err := m.open(ctx, true)
	if err != nil {
		return recall.Result{}, err
	}
	defer leave()
	return memory.Search(ctx, q)
}

// Remember implements recall.Memory.
func (m servedMemory) Remember(ctx context.Context, e recall.Entry) (id string, known bool, err error) {
	memory, leave, err := m.open(ctx, false)
	if err != nil {
		return "", false, err
	}
	defer leave()
	return memory.Remember(ctx, e)
}

// LearnServed learns from a run once it has ended. The end of the first run of a tree has the editor word the patterns, and closes the memory.
func (s *Service) LearnServed(ctx context.Context, run string) error {
	t, err := s.enterServed(ctx, run)
	if err != nil {
		return err
	}
	defer s.leaveServed(t)
	for {
		r, err := s.catchUp(ctx, t, run)
		if err != nil {
			return err
		}
		if r.End() != nil {
			break
		}
		if !pause(ctx, WatchEvery) {
			return context.Cause(ctx)
		}
	}
	t.session.memory.Settle()
	t.mu.Lock()
	delete(t.pasts, run) // if it is read again, it is read from its beginning
	t.mu.Unlock()
	if t.session.memory.Misses(run) {
		return fmt.Errorf("the learnings of run %s are not stored yet", run)
	}
	if run == t.root {
		s.served.mu.Lock()
		defer s.served.mu.Unlock()
		t.ended = true
	}
	return nil
}

// enterServed gives the tree of a run, until leaveServed.
func (s *Service) enterServed(ctx context.Context, run string) (*servedTree, error) {
	v := &s.served
	v.mu.Lock()
	defer v.mu.Unlock() // one at a time: each needs the server, and most need it once
	t := v.trees[run]
	if t == nil {
		root := s.Origin(ctx, run)
		if t = v.trees[root]; t == nil {
			p, err := s.Pinned(ctx, root)
			if err != nil {
				return nil, err
			}
			first, err := p.First()
			if err == nil {
				first.Dir, err = v.place(first.Dir)
			}
			if err != nil {
				return nil, err
			}
			secrets, _ := s.findSecrets(ctx, first, p) // the editor alone can need them, and it says so
			t = &servedTree{root: root, session: s.newSession(p.Program, ir.RulesOf(p.Header.Behaviour), first, held{secrets: secrets}), pasts: map[string]*servedRun{}}
			s.closeOldest()
		}
		if v.trees == nil {
			v.trees = map[string]*servedTree{}
		}
		v.trees[root], v.trees[run] = t, t
	}
	v.uses++
	t.users, t.used = t.users+1, v.uses
	return t, nil
}

// leaveServed gives a tree back. The memory of a tree whose first run has ended is closed.
func (s *Service) leaveServed(t *servedTree) {
	s.served.mu.Lock()
	defer s.served.mu.Unlock()
	if t.users--; t.ended && t.users == 0 {
		s.closeServed(t)
	}
}

// CloseServed closes the memories of runs that other processes drive, and waits for that. None of them may be used any more.
func (s *Service) CloseServed() {
	s.served.mu.Lock()
	for _, t := range s.served.trees { // any order: all of them go
		s.closeServed(t)
	}
	s.served.mu.Unlock()
	s.closing.Wait()
}

// closeOldest closes a memory if many are open. The caller holds the lock.
func (s *Service) closeOldest() {
	roots := map[*servedTree]bool{}
	var oldest *servedTree
	for _, t := range s.served.trees { // any order: the numbers of uses differ
		roots[t] = true
		if t.users == 0 && (oldest == nil || t.used < oldest.used) {
			oldest = t
		}
	}
	if len(roots) >= maxServed && oldest != nil {
		s.closeServed(oldest)
	}
}

// closeServed closes the memory of a tree that nobody uses, unless that was done. The caller holds the lock.
func (s *Service) closeServed(t *servedTree) {
	if s.served.trees[t.root] != t {
		return
	}
	for run, of := range s.served.trees { // any order: each is removed
		if of == t {
			delete(s.served.trees, run)
		}
	}
	s.closing.Go(t.session.finishTree)
}

// catchUp has the memory of a tree learn from what is new in the journal of a run.
func (s *Service) catchUp(ctx context.Context, t *servedTree, run string) (*servedRun, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.pasts[run]
	if r == nil {
		p, err := s.Past(ctx, run)
		if err != nil {
			return nil, err
		}
		first, err := p.First()
		if err != nil {
			return nil, err
		}
		r = &servedRun{p, first.Parent}
		t.pasts[run] = r
	}
	err := s.After(ctx, run, r.Seq(), func(b journal.Batch) error {
		var out event.Reaction
		events, err := r.fold.Replay(b, &out)
		if err == nil {
			t.session.memory.Watch(run, events, &out)
		}
		return err
	})
	if err != nil {
		delete(t.pasts, run)
	}
	return r, err
}

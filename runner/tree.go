package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor/recall"
	"github.com/flowrun/flowrun/runner/given"
)

// MaxFinishing is how many trees that have ended a service finishes at once. A tree is finished when the memory has learned from its
// tasks. If there are more, the drives that ended wait.
const MaxFinishing = 1000

// tree is a run and the runs that it calls, as this process knows them. While all of them are parked, the tree has no session.
type tree struct {
	root string // the first run of the tree

	opening sync.Mutex // held while the session is opened or put aside
	held    held
	known   bool // held has the secrets of the tree

	// The service guards these.
	runs    map[string]bool
	session *Session        // nil while the tree is parked
	driven  map[string]bool // runs of the tree, without the runs that their callers drive
	ended   bool            // the root has ended, or another process drives it
	resting bool            // a goroutine waits for the memory, to park the tree then
}

// newTree makes the tree of a session. h has all secrets of the tree.
func newTree(x *Session, h held) *tree {
	return &tree{root: x.root, held: h, known: true, runs: map[string]bool{x.root: true}, session: x}
}

// replaceTree adds a tree. The tree that its root belonged to is finished.
func (s *Service) replaceTree(t *tree) {
	s.mu.Lock()
	before := s.trees[t.root]
	s.trees[t.root] = t
	s.mu.Unlock()
	if before != nil {
		s.dropTree(before)
	}
}

// joinTree makes a called run part of the tree of its caller.
func (s *Service) joinTree(run, caller string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, before := s.trees[caller], s.trees[run]
	if t == nil || t == before {
		return
	}
	t.runs[run], s.trees[run] = true, t
	if before != nil {
		s.closing.Go(func() { s.dropTree(before) })
	}
}

// leaveTree takes a run that has ended out of the tree of its caller.
func (s *Service) leaveTree(run string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.trees[run]; t != nil && t.root != run {
		delete(t.runs, run)
		delete(s.trees, run)
		delete(s.progress, run)
	}
}

// sessionOf gives the session of a run that is driven here; nil if there is none.
func (s *Service) sessionOf(run string) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.trees[run]; t != nil {
		return t.session
	}
	return nil
}

var errNoSession = errors.New("this process does not drive the run")

// memoryOf gives executors the memory of a run.
func (s *Service) memoryOf(run string) (recall.Memory, error) {
	if s.memoryBy != nil {
		return s.memoryBy(run), nil
	}
	x := s.sessionOf(run)
	if x == nil {
		return nil, errNoSession
	}
	return x.memory.Memory(run)
}

// enterTree gives the tree of a run that is about to be driven, with a session. needSecrets says that a tree of another process is
// refused unless all of its secrets are found again.
func (s *Service) enterTree(ctx context.Context, run string, needSecrets bool) (*tree, error) {
	t, err := s.beginDrive(ctx, run)
	if err != nil {
		return nil, err
	}
	if err := s.openSession(ctx, t, needSecrets); err != nil {
		s.leaveDrive(t, run, false)
		return nil, err
	}
	return t, nil
}

// beginDrive gives the tree of a run, and notes that the run is driven. The error wraps engine.ErrOwned if it is driven here already.
func (s *Service) beginDrive(ctx context.Context, run string) (*tree, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trees[run] == nil {
		s.mu.Unlock()
		root := run
		if info, err := s.Get(ctx, run); err == nil {
			root = s.Top(ctx, info)
		}
		s.mu.Lock()
		s.addToTree(run, root)
	}
	t := s.trees[run]
	if t.driven[run] {
		return nil, fmt.Errorf("%w: run %s, by this process already", engine.ErrOwned, run)
	}
	if t.driven == nil {
		t.driven = map[string]bool{}
	}
	t.driven[run] = true
	if run == t.root {
		t.ended = false
	}
	return t, nil
}

// addToTree makes a run part of the tree of a root, unless the run has a tree. The caller holds s.mu.
func (s *Service) addToTree(run, root string) {
	if s.trees[run] != nil {
		return
	}
	t := s.trees[root]
	if t == nil {
		t = &tree{root: root, runs: map[string]bool{root: true}}
		s.trees[root] = t
	}
	t.runs[run], s.trees[run] = true, t
}

// NoSecrets says that the secrets of a run are not where the run got them, or have other values there.
type NoSecrets struct {
	Run      string
	Problems []error // *given.Problem
}

func (e *NoSecrets) Error() string {
	return fmt.Sprintf("run %s needs secrets that this process does not have: %v", e.Run, errors.Join(e.Problems...))
}

// openSession opens the session of a tree, unless the tree has one. If the tree's secrets are needed and not known, they are looked
// for, and an open session gets them, too. The error is *NoSecrets, or that of reading the journal of the tree's root.
func (s *Service) openSession(ctx context.Context, t *tree, needSecrets bool) error {
	t.opening.Lock()
	defer t.opening.Unlock()
	s.mu.Lock()
	x := t.session
	s.mu.Unlock()
	if x != nil && (t.known || !needSecrets) {
		return nil
	}
	p, err := s.Pinned(ctx, t.root)
	if err != nil {
		return err
	}
	first, err := p.First()
	if err != nil {
		return err
	}
	if !t.known && needSecrets {
		if t.held.secrets, err = s.findSecrets(ctx, first, p); err != nil {
			return err
		}
		t.known = true
	}
	rules := ir.RulesOf(p.Header.Behaviour)
	if x != nil {
		x.holdSecrets(p.Program, rules, first, t.held)
		return nil
	}
	x = s.newSession(p.Program, rules, first, t.held)
	s.mu.Lock()
	defer s.mu.Unlock()
	t.session = x
	return nil
}

// findSecrets gets the secrets of a run from the places that the journal names.
func (s *Service) findSecrets(ctx context.Context, first *event.RunStarted, p *Pinned) (map[string]value.Value, error) {
	if len(first.Secrets) == 0 {
		return nil, nil
	}
	if err := s.Reseal(ctx, first.Run, first); err != nil {
		return nil, err
	}
	secrets, _, problems := given.Search{First: first, Program: p.Program.Program, Same: s.marks.same, LookupEnv: s.lookupEnv}.Find()
	if len(problems) > 0 {
		return nil, &NoSecrets{Run: first.Run, Problems: problems}
	}
	return secrets, nil
}

func (s *Service) lookupEnv(name string) (string, bool) {
	text, ok := s.environ[name]
	return text, ok
}

// leaveDrive notes the end of a drive. The last one of an ended tree finishes the tree; else parks says whether the last one parks it.
func (s *Service) leaveDrive(t *tree, run string, parks bool) {
	s.mu.Lock()
	delete(t.driven, run)
	last, ended, unused := len(t.driven) == 0, t.ended, t.session == nil && !t.known
	if last && (ended || unused) {
		s.forgetTree(t) // before a drive can enter it
	}
	s.mu.Unlock()
	switch {
	case !last:
	case ended:
		s.finishing <- struct{}{}
		s.closing.Go(func() {
			s.dropTree(t)
			<-s.finishing
		})
	case unused:
		s.dropTree(t)
	case parks:
		s.parkTree(t)
	}
}

// endTree notes that this process does not drive the root of a tree any more.
func (s *Service) endTree(t *tree) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.ended = true
}

// parkTree puts the session of a tree aside that nobody drives. If the memory still learns from tasks of the tree, that is done in the
// background when the memory has caught up: a run that is woken before then goes on with the same session.
func (s *Service) parkTree(t *tree) {
	t.opening.Lock()
	defer t.opening.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	x := t.session
	switch {
	case x == nil || len(t.driven) > 0 || t.resting:
		return
	case !x.memory.Idle():
		t.resting = true
		s.closing.Go(func() {
			x.memory.Settle()
			s.mu.Lock()
			t.resting = false
			s.mu.Unlock()
			s.parkTree(t)
		})
		return
	}
	t.session = nil
	for run := range s.progress { // any order: it removes some
		if s.trees[run] == t {
			delete(s.progress, run)
		}
	}
	s.mu.Unlock()
	t.held.made, t.held.pending = x.putAside()
	s.mu.Lock()
}

// forgetTree takes a tree out of the service, with the progress of its runs. The caller holds s.mu.
func (s *Service) forgetTree(t *tree) {
	for run := range t.runs { // any order: each is removed
		if s.trees[run] == t {
			delete(s.trees, run)
			delete(s.progress, run)
		}
	}
}

// dropTree forgets a tree, and finishes it.
func (s *Service) dropTree(t *tree) {
	t.opening.Lock()
	s.mu.Lock()
	s.forgetTree(t)
	x, pending := t.session, t.held.pending
	t.session, t.held, t.known = nil, held{}, false
	s.mu.Unlock()
	t.opening.Unlock()
	if x != nil {
		x.finishTree()
	} else {
		s.library.Leave(pending)
	}
}

// Release ends the session of a run and of the runs that it called: the memory learns from all ended tasks, and the service forgets the
// secrets. No run of the tree may be driven here any more. Release waits for the memory.
func (s *Service) Release(run string) {
	s.mu.Lock()
	t := s.trees[run]
	s.mu.Unlock()
	if t != nil {
		s.dropTree(t)
	}
}

// Close releases all runs, and closes the host.
func (s *Service) Close() error {
	for {
		s.mu.Lock()
		trees := map[*tree]bool{}
		for _, t := range s.trees { // any order: all of them go
			trees[t] = true
		}
		s.mu.Unlock()
		if len(trees) == 0 {
			break
		}
		for t := range trees { // any order: all of them go
			s.dropTree(t)
		}
	}
	s.closing.Wait()
	return s.Reader.Close()
}

package runner_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/engine/local"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// supervised is a supervisor at work on a host of its own.
type supervised struct {
	*runner.Supervisor
	host  *local.Engine
	stop  func()
	clock *movedClock
	// looked is how often the supervisor has looked for runs to wake.
	looked atomic.Int64

	mu   sync.Mutex
	ends map[string]event.Status
}

func supervise(t *testing.T, most int, x executor.Executor) *supervised {
	t.Helper()
	return superviseWith(t, t.TempDir()+"/.flowrun", runner.SupervisorOptions{MaxDriven: most}, x)
}

// superviseStore supervises the runs of a store that is there.
func superviseStore(t *testing.T, dir string, o runner.SupervisorOptions) *supervised {
	t.Helper()
	return superviseWith(t, dir, o, done)
}

func superviseWith(t *testing.T, dir string, o runner.SupervisorOptions, x executor.Executor) *supervised {
	t.Helper()
	group := func(_ []byte, first event.RunStarted) (engine.Group, error) {
		name, _ := first.Vars["group"].(string)
		return engine.Group{Name: name}, nil
	}
	clock := &movedClock{}
	host, err := local.Open(dir, local.Options{Factory: enginetest.Factory, Executor: x, Group: group, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	s := &supervised{host: host, clock: clock, ends: map[string]event.Status{}}
	o.Ended = func(run string, end event.End, err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if err == nil {
			s.ends[run] = end.Status
		} else if !errors.Is(err, context.Canceled) {
			t.Errorf("run %s: %v", run, err)
		}
	}
	s.Supervisor = runner.NewSupervisor(lookingHost{host, &s.looked}, o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the supervisor ends with %v", err)
		}
		if err := host.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(s.stop)
	return s
}

// lookingHost counts how often the supervisor looks for runs to wake.
type lookingHost struct {
	runner.SupervisorHost
	looked *atomic.Int64
}

func (h lookingHost) Wakeable(ctx context.Context, limit int) ([]string, event.Time, error) {
	h.looked.Add(1)
	return h.SupervisorHost.Wakeable(ctx, limit)
}

func (s *supervised) start(t *testing.T, p enginetest.Program, group string) string {
	t.Helper()
	start := p.Start()
	start.First.Vars = map[string]any{"group": group}
	run, err := s.host.Start(context.Background(), start)
	if err != nil {
		t.Fatal(err)
	}
	s.Add(run)
	return run
}

func (s *supervised) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for due := time.Now().Add(5 * time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(due) {
			t.Fatalf("it never came that %s", what)
		}
	}
}

func (s *supervised) ended(n int) func() bool {
	return func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.ends) >= n }
}

func (s *supervised) parked(t *testing.T) int {
	list, err := s.host.List(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range list {
		if list[i].Parked && !list[i].Interrupted() {
			n++
		}
	}
	return n
}

var done = executor.Func(func(_ context.Context, a event.Attempt) event.AttemptFinished {
	f := executor.Answer(a)
	f.Outcome = event.OK
	return f
})

func waits(d time.Duration) enginetest.Program {
	return enginetest.Program{Tasks: []enginetest.Task{{Name: "a"}, {Name: "w", Wait: d, After: []string{"a"}}, {Name: "b", After: []string{"w"}}}}
}

// A message wakes a parked run, and so does its turn.
func TestSupervisorWakes(t *testing.T) {
	s := supervise(t, 64, done)
	first := s.start(t, waits(time.Hour), "g")
	var behind []string
	for range 3 {
		behind = append(behind, s.start(t, waits(time.Hour), "g"))
	}
	s.until(t, "all are parked", func() bool { return s.parked(t) == 4 })
	for i, run := range append([]string{first}, behind...) {
		if err := s.host.Cancel(context.Background(), run, "enough"); err != nil {
			t.Fatal(err)
		}
		s.until(t, "it has ended", s.ended(i+1))
		if i == len(behind) {
			break
		}
		s.until(t, "the next has begun", func() bool {
			info, err := s.host.Get(context.Background(), behind[i])
			return err == nil && info.Status != event.Pending && info.Parked
		})
		for _, later := range behind[i+1:] {
			if info, err := s.host.Get(context.Background(), later); err != nil || info.Status != event.Pending || info.Turn == nil {
				t.Errorf("run %s is %+v, %v", later, info, err)
			}
		}
	}
}

// When the process stops, a parked run is one that nobody drives; another process goes on with it.
func TestParkedRunsAreLeft(t *testing.T) {
	s := supervise(t, 64, done)
	run := s.start(t, waits(2*time.Second), "g")
	s.until(t, "it is parked", func() bool { return s.parked(t) == 1 })
	dir := s.host.Dir()
	other, err := local.Open(dir, local.Options{Factory: enginetest.Factory, Executor: done})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.Drive(context.Background(), run, nil); !errors.Is(err, engine.ErrOwned) {
		t.Errorf("while it is parked elsewhere, a drive gives %v", err)
	}
	s.stop()
	if info, err := other.Get(context.Background(), run); err != nil || !info.Interrupted() || info.Crashed || info.Parked {
		t.Errorf("after the stop it is %+v, %v", info, err)
	}
	if end, err := other.Drive(context.Background(), run, nil); err != nil || end.Status != event.Succeeded {
		t.Errorf("it ended %s, %v", end.Status, err)
	}
}

// counted is an executor that counts the attempts of a run's nodes.
type counted struct {
	mu    sync.Mutex
	calls map[string]int // by run and node
}

func (c *counted) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	c.mu.Lock()
	if c.calls == nil {
		c.calls = map[string]int{}
	}
	c.calls[a.Run+"/"+a.Node]++
	c.mu.Unlock()
	return done(ctx, a)
}

// family is a run that calls n runs, each of which calls a run that waits for an hour between two attempts.
func family(n int) enginetest.Program {
	leaf, mid := waits(time.Hour), enginetest.Program{Tasks: []enginetest.Task{{Name: "leaf", Call: "leaf"}, {Name: "last", After: []string{"leaf"}}}}
	top := enginetest.Program{Workflows: map[string]enginetest.Program{"leaf": leaf, "mid": mid}}
	for i := range n {
		top.Tasks = append(top.Tasks, enginetest.Task{Name: fmt.Sprintf("mid%d", i), Call: "mid"})
	}
	return top
}

// A run whose called runs only wait is parked with them. Each called run is woken on its own, and its end wakes its caller. Nothing in
// the journals tells of that, and no attempt is made twice.
func TestSupervisorParksTrees(t *testing.T) {
	n := 12
	if *loadParked >= 1000 {
		n = local.MaxChildren + 10 // a parked run takes no place among those that its caller drives
	}
	x := &counted{}
	s := supervise(t, 64, x)
	run := s.start(t, family(n), "")
	s.until(t, "the whole tree is parked", func() bool { return s.parked(t) == 1+2*n })
	info, err := s.host.Get(context.Background(), run)
	if err != nil || !info.Parked {
		t.Errorf("the caller is %+v, %v", info, err)
	}
	s.clock.ahead.Add(int64(time.Hour))
	s.until(t, "all have ended", s.ended(1+2*n))
	tree, err := s.host.Tree(context.Background(), run)
	if err != nil || len(tree) != 1+2*n {
		t.Fatalf("the tree has %d runs, %v", len(tree), err)
	}
	events := map[string]uint64{"test": 1 + uint64(n), "mid": 1 + 1 + 1, "leaf": 1 + 1 + 1 + 1} // starts, ends of called runs, answers, timers
	for _, i := range tree {
		if i.Status != event.Succeeded || i.Events != events[i.Workflow] {
			t.Errorf("run %s of %s is %s after %d events, want %d", i.Run, i.Workflow, i.Status, i.Events, events[i.Workflow])
		}
	}
	for attempt, calls := range x.calls {
		if calls != 1 {
			t.Errorf("%s was made %d times", attempt, calls)
		}
	}
	if len(x.calls) != 3*n {
		t.Errorf("%d attempts were made, want %d", len(x.calls), 3*n)
	}
}

// A cancel of a parked caller reaches the runs that it called, however deep.
func TestSupervisorCancelsParkedTrees(t *testing.T) {
	s := supervise(t, 64, done)
	run := s.start(t, family(5), "")
	s.until(t, "the whole tree is parked", func() bool { return s.parked(t) == 11 })
	tree, err := s.host.Tree(context.Background(), run)
	if err != nil || len(tree) != 11 {
		t.Fatalf("the tree has %d runs, %v", len(tree), err)
	}
	leaf := tree[len(tree)-1]
	if err := s.host.Cancel(context.Background(), leaf.Run, "this one"); err != nil {
		t.Fatal(err)
	}
	s.until(t, "the cancelled run has ended, and its caller has heard of it", s.ended(2))
	if err := s.host.Cancel(context.Background(), run, "all"); err != nil {
		t.Fatal(err)
	}
	s.until(t, "all have ended", s.ended(11))
	if tree, err = s.host.Tree(context.Background(), run); err != nil {
		t.Fatal(err)
	}
	for _, i := range tree {
		if i.Status != event.Cancelled && i.Run != leaf.Parent {
			t.Errorf("run %s of %s is %s", i.Run, i.Workflow, i.Status)
		}
	}
}

// staleHost says twice that a run must be driven: the second time after the drive has ended, as an answer does that was read before.
type staleHost struct {
	runner.SupervisorHost
	asked  chan struct{} // closed by the second look
	ended  chan struct{} // a token for each end that was reported
	looked chan struct{} // closed by the third look
	looks  int
	drives atomic.Int32
}

func (h *staleHost) Watching() int { return 0 }

func (h *staleHost) Woken() <-chan struct{} { return nil }

func (h *staleHost) Wakeable(context.Context, int) ([]string, event.Time, error) {
	switch h.looks++; h.looks {
	case 1:
		return []string{"run"}, 0, nil
	case 2:
		close(h.asked)
		<-h.ended
		return []string{"run"}, 0, nil
	case 3:
		close(h.looked)
	}
	return nil, 0, nil
}

func (h *staleHost) DriveUntilParked(context.Context, string, engine.Watcher) (event.End, error) {
	h.drives.Add(1)
	<-h.asked
	return event.End{}, nil
}

// A run that ends while the host is asked which runs must be driven is not driven again, though the host's answer names it.
func TestSupervisorDrivesNoEndedRun(t *testing.T) {
	h := &staleHost{asked: make(chan struct{}), ended: make(chan struct{}, 2), looked: make(chan struct{})}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	s := runner.NewSupervisor(h, runner.SupervisorOptions{Ended: func(string, event.End, error) { h.ended <- struct{}{} }})
	stopped := make(chan error, 1)
	go func() { stopped <- s.Run(ctx) }()
	select {
	case <-h.looked:
	case <-ctx.Done():
		t.Error("the supervisor does not look again")
	}
	stop()
	<-stopped
	if n := h.drives.Load(); n != 1 {
		t.Errorf("the run was driven %d times", n)
	}
}

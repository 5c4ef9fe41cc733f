package runner_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/local"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/secret"
	"github.com/flowrun/flowrun/runner/given"
	"github.com/flowrun/flowrun/runner/journal"
)

// A supervisor drives the runs that a process left, if its options say so, and no others.
func TestSupervisorAdopts(t *testing.T) {
	s := supervise(t, 64, done)
	var runs []string
	for range 3 {
		runs = append(runs, s.start(t, waits(2*time.Second), ""))
	}
	s.until(t, "all are parked", func() bool { return s.parked(t) == len(runs) })
	s.stop()
	dir := s.host.Dir()

	quiet := superviseStore(t, dir, runner.SupervisorOptions{})
	quiet.until(t, "it has looked", func() bool { return quiet.looked.Load() > 2 })
	left, err := quiet.host.Left(context.Background())
	if err != nil || len(left) != len(runs) {
		t.Fatalf("nobody drives %v, %v", left, err)
	}
	quiet.stop()

	adopts := superviseStore(t, dir, runner.SupervisorOptions{Adopt: func(i engine.Info) bool { return i.Run != runs[1] }})
	adopts.until(t, "the adopted runs have ended", adopts.ended(2))
	if info, err := adopts.host.Get(context.Background(), runs[1]); err != nil || !info.Interrupted() {
		t.Errorf("the run that is not adopted is %+v, %v", info, err)
	}
}

// leftBehind is a host whose runs nobody drives.
type leftBehind struct {
	left   []engine.Info
	mu     sync.Mutex
	driven map[string]time.Time
}

func (h *leftBehind) Watching() int { return 0 }

func (h *leftBehind) DriveUntilParked(_ context.Context, run string, _ engine.Watcher) (event.End, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.driven[run] = time.Now()
	return event.End{Status: event.Succeeded}, nil
}

func (h *leftBehind) Wakeable(context.Context, int) ([]string, event.Time, error) { return nil, 0, nil }

func (h *leftBehind) Adopt(context.Context) (int, error) { return 0, nil }

func (h *leftBehind) Alone() (bool, error) { return false, nil }

func (h *leftBehind) Woken() <-chan struct{} { return nil }

func (h *leftBehind) Left(context.Context) (left []engine.Info, _ error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, i := range h.left {
		if h.driven[i.Run].IsZero() {
			left = append(left, i)
		}
	}
	return left, nil
}

// A run that was just made is left to the process that made it, for a while.
func TestSupervisorLeavesNewRunsToTheirProcess(t *testing.T) {
	now := time.Now()
	made := now.Add(-9900 * time.Millisecond)
	h := &leftBehind{driven: map[string]time.Time{}, left: []engine.Info{
		{Run: "new", Status: event.Pending, Created: event.At(made)},
		{Run: "old", Status: event.Pending, Created: event.At(now.Add(-time.Hour))},
		{Run: "begun", Status: event.Running, Created: event.At(now)},
	}}
	ended := make(chan string, 3)
	s := runner.NewSupervisor(h, runner.SupervisorOptions{Adopt: func(engine.Info) bool { return true }, Ended: func(run string, _ event.End, _ error) { ended <- run }})
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- s.Run(ctx) }()
	for range 3 {
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Fatal("not all runs are adopted")
		}
	}
	stop()
	<-stopped
	if age := h.driven["new"].Sub(made); age < 10*time.Second {
		t.Errorf("the new run is adopted after %v", age)
	}
}

// A supervisor asks once whether it is to drive a run, also if it looks again for the sake of runs that were just made.
func TestSupervisorAsksOnce(t *testing.T) {
	now := time.Now()
	h := &leftBehind{driven: map[string]time.Time{}, left: []engine.Info{
		{Run: "new", Status: event.Pending, Created: event.At(now.Add(-9900 * time.Millisecond))},
		{Run: "unwanted", Status: event.Running, Created: event.At(now)},
	}}
	asked, ended := map[string]int{}, make(chan string, 1)
	s := runner.NewSupervisor(h, runner.SupervisorOptions{
		Adopt: func(i engine.Info) bool { asked[i.Run]++; return i.Run == "new" },
		Ended: func(run string, _ event.End, _ error) { ended <- run }})
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- s.Run(ctx) }()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("the new run is not adopted")
	}
	stop()
	<-stopped
	if want := map[string]int{"new": 1, "unwanted": 1}; !maps.Equal(asked, want) {
		t.Errorf("the supervisor asks %v times, want %v", asked, want)
	}
}

const needsToken = `
variable "token" {
  type      = string
  sensitive = true
}

workflow "top" {
  default = true
  step "rest" {
    wait { duration = "1h" }
  }
  step "print" {
    run = ["print", "--", var.token]
    depends_on = [step.rest]
  }
}
`

// tokenStore is a store for a run that waits for an hour and then prints its token.
type tokenStore struct {
	dir     string
	clock   *movedClock
	printed chan []string
}

// open opens the store as a process with an environment of its own.
func (x *tokenStore) open(t *testing.T, o local.Options, environ ...string) *runner.Service {
	t.Helper()
	registry := executor.Registry{}
	registry.Register(executor.Func(func(_ context.Context, a event.Attempt) event.AttemptFinished {
		x.printed <- a.Argv
		ans := executor.Answer(a)
		ans.Outcome = event.OK
		return ans
	}), event.RunAttempt)
	service := runner.New(runner.Options{Store: x.dir, Executors: registry, Environ: environ})
	o.Factory, o.Executor, o.Watch, o.Clock = service.Machine, service, service.Observe, x.clock
	host, err := local.Open(x.dir, o)
	if err != nil {
		t.Fatal(err)
	}
	service.Attach(host)
	t.Cleanup(func() { service.Close() })
	return service
}

// parkToken makes a store with a parked run, and the service that has parked it.
func parkToken(t *testing.T) (x *tokenStore, s *runner.Service, run string) {
	t.Helper()
	p, list := dsl.Load(fstest.MapFS{"flow.hcl": {Data: []byte(needsToken)}}, "flow.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	x = &tokenStore{dir: t.TempDir(), clock: &movedClock{}, printed: make(chan []string, 1)}
	s = x.open(t, local.Options{})
	definition := p.IR.Canonical()
	run, err := s.Start(t.Context(), engine.Start{
		Header:     journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Definition: ir.Hash(definition), Workflow: "top"},
		Definition: definition,
		First: event.RunStarted{Workflow: "top", Dir: t.TempDir(), Secrets: map[string]event.Secret{
			"var.token": secret.Seal(given.Place{Kind: given.Env, Name: "TOKEN"}.String(), "00", "the-token")}},
	}, map[string]value.Value{"var.token": "the-token"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.DriveUntilParked(t.Context(), run, nil); !errors.Is(err, engine.ErrParked) {
		t.Fatal(err)
	}
	return x, s, run
}

// A drive that needs the secrets of its run gets them, though the run's session was opened without them. If they are not there, the
// run is left alone.
func TestOpenSessionGetsItsSecrets(t *testing.T) {
	x, first, run := parkToken(t)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	enter := func(environ ...string) *runner.Service {
		s := x.open(t, local.Options{}, environ...)
		leave, err := s.Enter(t.Context(), "another run of the tree", run)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(leave)
		return s
	}
	s := enter()
	if _, err := s.DriveUntilParked(t.Context(), run, nil); !errors.As(err, new(*runner.NoSecrets)) {
		t.Errorf("without the secret the error is %v", err)
	}
	s.Close()
	s = enter("TOKEN=the-token")
	for range 2 { // the first drive notes the new driver, and the clock of the run goes on
		if _, err := s.DriveUntilParked(t.Context(), run, nil); !errors.Is(err, engine.ErrParked) {
			t.Fatal(err)
		}
	}
	x.clock.ahead.Add(int64(2 * time.Hour))
	if end, err := s.DriveUntilParked(t.Context(), run, nil); err != nil || end.Status != event.Succeeded {
		t.Fatalf("the run ends as %s, %v", end.Status, err)
	}
	if got := <-x.printed; len(got) != 3 || got[2] != "the-token" {
		t.Errorf("the step prints %q", got)
	}
}

// A run that another process has taken over leaves no secrets behind in the process that parked it.
func TestRunsTakenByOthersLeaveNoSecrets(t *testing.T) {
	x, first, run := parkToken(t)
	if n := first.Trees(); n != 1 {
		t.Fatalf("the service keeps %d trees of parked runs, want 1", n)
	}
	taker := x.open(t, local.Options{TakeOver: true}, "TOKEN=the-token")
	if _, err := taker.DriveUntilParked(t.Context(), run, nil); !errors.Is(err, engine.ErrParked) {
		t.Fatal(err)
	}
	if _, err := first.DriveUntilParked(t.Context(), run, nil); !errors.Is(err, engine.ErrOwned) {
		t.Fatal(err)
	}
	awaitNoTrees(t, first)
}

// awaitNoTrees waits until a service keeps nothing of any run. It finishes trees in the background.
func awaitNoTrees(t *testing.T, s *runner.Service) {
	t.Helper()
	for n, due := 1, time.Now().Add(time.Minute); n > 0; n = s.Trees() {
		if time.Now().After(due) {
			t.Fatalf("the service keeps %d trees of runs that it does not drive", n)
		}
		time.Sleep(time.Millisecond)
	}
}

// A supervised run of another process gets its secrets from where it got them first. If they are not there, the run is left alone.
func TestAdoptedRunsNeedTheirSecrets(t *testing.T) {
	x, first, run := parkToken(t)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}

	for _, environ := range [][]string{nil, {"TOKEN=another"}} {
		s := x.open(t, local.Options{}, environ...)
		before, err := s.Get(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.DriveUntilParked(t.Context(), run, nil)
		if no := (*runner.NoSecrets)(nil); !errors.As(err, &no) || no.Run != run || !strings.Contains(err.Error(), `"token"`) || strings.Contains(err.Error(), "another") {
			t.Errorf("with %q the error is %v", environ, err)
		}
		if after, err := s.Get(t.Context(), run); err != nil || !after.Interrupted() || after.Events != before.Events {
			t.Errorf("with %q the run is %+v, %v", environ, after, err)
		}
		if n := s.Trees(); n != 0 {
			t.Errorf("the service keeps %d trees of runs that it does not drive", n)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}

	s := x.open(t, local.Options{}, "TOKEN=the-token")
	for range 2 { // the first drive notes the new driver, and the clock of the run goes on
		if _, err := s.DriveUntilParked(t.Context(), run, nil); !errors.Is(err, engine.ErrParked) {
			t.Fatal(err)
		}
	}
	if n := s.Sessions(); n != 0 {
		t.Errorf("%d sessions are open while the run is parked", n)
	}
	x.clock.ahead.Add(int64(2 * time.Hour))
	runs, _, err := s.Wakeable(t.Context(), 10)
	if err != nil || len(runs) != 1 || runs[0] != run {
		t.Fatalf("wakeable are %v, %v", runs, err)
	}
	if end, err := s.DriveUntilParked(t.Context(), run, nil); err != nil || end.Status != event.Succeeded {
		t.Fatalf("it ends as %s, %v", end.Status, err)
	}
	if got := <-x.printed; len(got) != 3 || got[2] != "the-token" {
		t.Errorf("the step prints %q", got)
	}
	awaitNoTrees(t, s)
}

const callsAndWaits = `
workflow "top" {
  default = true
  step "below" { call = workflow.below }
}

workflow "below" {
  step "rest" {
    wait { duration = "1h" }
  }
}
`

// A caller that ends while a run that it called is parked leaves it as a run that nobody drives.
func TestParkedRunsOfACallerThatEndsAreLeft(t *testing.T) {
	p, list := dsl.Load(fstest.MapFS{"flow.hcl": {Data: []byte(callsAndWaits)}}, "flow.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	store := t.TempDir()
	s := runner.New(runner.Options{Store: store})
	host, err := local.Open(store, local.Options{Factory: s.Machine, Executor: s, Watch: s.Observe})
	if err != nil {
		t.Fatal(err)
	}
	s.Attach(host)
	defer s.Close()
	definition := p.IR.Canonical()
	run, err := s.Start(t.Context(), engine.Start{
		Header:     journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Definition: ir.Hash(definition), Workflow: "top"},
		Definition: definition,
		First:      event.RunStarted{Workflow: "top", Dir: t.TempDir()},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.DriveUntilParked(t.Context(), run, nil); !errors.Is(err, engine.ErrParked) {
		t.Fatal(err)
	}
	for range 3 { // the third cancel does not wait for the called run
		if err := s.Cancel(t.Context(), run, "enough"); err != nil {
			t.Fatal(err)
		}
	}
	if end, err := s.DriveUntilParked(t.Context(), run, nil); err != nil || end.Status != event.Cancelled {
		t.Fatalf("it ends as %s, %v", end.Status, err)
	}
	tree, err := s.Tree(t.Context(), run)
	if err != nil || len(tree) != 2 || !tree[1].Interrupted() || tree[1].Parked {
		t.Errorf("the runs are %+v, %v", tree, err)
	}
	if runs, _, err := s.Wakeable(t.Context(), 10); err != nil || len(runs) > 0 {
		t.Errorf("wakeable are %v, %v", runs, err)
	}
}

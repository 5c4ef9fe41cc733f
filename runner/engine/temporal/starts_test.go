package temporal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/loop/source"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// launching is a store of a test in which workers start runs by themselves.
type launching struct {
	*testing.T
	*runner.Service
	options temporal.Options
	dir     string // the workspace of all workers

	mu   sync.Mutex
	done []event.Attempt
}

func launch(t *testing.T, o temporal.Options) *launching {
	t.Helper()
	needServer(t)
	o.Store, o.Queue, o.Poll, o.Heartbeat, o.Task = engine.NewID(), engine.NewID(), 50*time.Millisecond, 5*time.Second, 5*time.Second
	l := &launching{T: t, options: o, dir: t.TempDir()}
	_, l.Service = l.connect()
	return l
}

func (l *launching) connect() (*temporal.Host, *runner.Service) {
	l.Helper()
	o, s := l.options, runner.New(runner.Options{Remote: true, Queue: l.options.Queue})
	o.Machines, o.Group, o.Events, o.Launch = s, s.Group, s.Events, s.Launch
	h := dial(l.T, o)
	s.Attach(h)
	return h, s
}

// work starts a worker.
func (l *launching) work() (stop func()) {
	l.Helper()
	h, _ := l.connect()
	x := executor.Registry{}
	x.Register(source.New(x, h.Ask), event.SourceAttempt)
	x.Register(executor.Func(func(_ context.Context, a event.Attempt) event.AttemptFinished {
		l.mu.Lock()
		l.done = append(l.done, a)
		l.mu.Unlock()
		f := executor.Answer(a)
		f.Outcome = event.OK
		return f
	}), event.RunAttempt)
	return serveIn(l.T, h, x, 20, l.dir)
}

// runsOf returns the runs that have carried out a step, in order, as often as they did.
func (l *launching) runsOf(step string) (runs []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.done {
		if a.Name == step {
			runs = append(runs, a.Run)
		}
	}
	return runs
}

func (l *launching) until(what string, holds func() bool) {
	l.Helper()
	for range 1200 {
		if holds() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Fatalf("in a minute: not %s, after %d attempts", what, len(l.done))
}

func (l *launching) register(text string) {
	l.Helper()
	start := begin(parse(l.T, text))
	start.Header.Workflow, start.First.Workflow = "", ""
	if _, err := l.Register(l.Context(), "/flows/flow.hcl", &start); err != nil {
		l.Fatal(err)
	}
}

const onBuilt = `
on "built" {
  workflow = workflow.deploy
  when     = "event.n >= 0"
  with     = { n = event.n }
}
on "built" {
  workflow = workflow.tell
}
on "flowrun.run" {
  workflow = workflow.clean
  when     = "event.workflow == 'deploy'"
}
workflow "deploy" {
  input "n" { type = number }
  step "deploy" { run = ["deploy", input.n] }
}
workflow "tell" {
  step "tell" { run = ["tell"] }
}
workflow "clean" {
  step "clean" { run = ["clean"] }
}
workflow "build" {
  step "publish" {
    emit {
      event = "built"
      data  = { n = 1000 }
    }
  }
}`

// TestEventsStartRuns publishes events, of people and of a run, while workers come and go: each event starts one run for each subscription whose
// condition holds, and the ends of these runs start others.
func TestEventsStartRuns(t *testing.T) {
	l := launch(t, temporal.Options{SoftShared: 150})
	ctx, unhire := context.WithCancel(t.Context())
	defer unhire()
	o := l.options
	o.Machines = new(runner.Programs)
	served, idle := make(chan error, 1), dial(t, o)
	go func() { served <- idle.ServeShared(ctx) }() // it keeps what runs share, and starts no runs
	l.register(onBuilt)
	var stop func()
	const events = 60
	for i := range events {
		if i == 5 {
			time.Sleep(2 * time.Second)
			if unhire(); <-served != nil || len(l.runsOf("tell")) != 0 {
				t.Errorf("%d runs before the first worker", len(l.runsOf("tell")))
			}
			stop = l.work()
			l.work()
		}
		n := float64(i)
		if i%10 == 9 {
			n = -1 // the condition of deploy does not hold
		}
		if _, err := l.Ask(t.Context(), event.StoreRequest{Emit: &event.EmitRequest{Name: "built", Data: map[string]any{"n": n}, Key: fmt.Sprint(i)}}); err != nil {
			t.Fatal(err)
		}
		switch i {
		case 20:
			stop()
		case 40:
			stop = l.work()
		}
	}
	if _, err := l.Ask(t.Context(), event.StoreRequest{Emit: &event.EmitRequest{Name: "built", Data: map[string]any{"n": 0.0}, Key: "0"}}); err != nil {
		t.Fatal(err)
	}
	b := begin(parse(t, onBuilt))
	b.Header.Workflow, b.First.Workflow = "build", "build"
	run, err := l.Start(t.Context(), b, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"deploy": events - events/10 + 1, "tell": events + 1, "clean": events - events/10 + 1}
	l.until("all runs have ended", func() bool {
		return len(l.runsOf("deploy")) >= want["deploy"] && len(l.runsOf("tell")) >= want["tell"] && len(l.runsOf("clean")) >= want["clean"]
	})
	time.Sleep(time.Second) // one run too many would begin now
	for step, n := range want {
		runs := l.runsOf(step)
		slices.Sort(runs)
		if once := slices.Compact(slices.Clone(runs)); len(once) != n || len(runs) != n {
			t.Errorf("%d runs have done %s, %d times: want %d", len(once), step, len(runs), n)
		}
	}
	var list []runner.Registered
	l.until("nothing waits", func() bool {
		list, err = l.Registered(t.Context())
		return err == nil && len(list) == 1 && !slices.ContainsFunc(list[0].On, func(on runner.Subscription) bool { return on.Waiting > 0 })
	})
	for _, on := range list[0].On {
		if on.Waiting != 0 || on.Dead != 0 || on.Workflow == "deploy" && (on.Started != want["deploy"] || on.Skipped != events/10) || on.Workflow == "clean" && on.Started != want["clean"] {
			t.Errorf("on %s → %s: %d waiting, %d started, %d skipped, %d dead", on.Event, on.Workflow, on.Waiting, on.Started, on.Skipped, on.Dead)
		}
	}
	first, err := l.Started(t.Context(), list[0].On[0].Last.Run)
	if err != nil || first.Cause == nil || first.Cause.Kind != event.CauseEvent || first.Dir == "" {
		t.Errorf("the last run of %s began with %v, %v", list[0].On[0].Event, first.Cause, err)
	}
	if info, err := l.Get(t.Context(), run); err != nil || info.Status != event.Succeeded {
		t.Errorf("the run that has published ended %s: %v", info.Status, err)
	}
	if n := len(histories(t, wire.ShareID(l.options.Store))); n < 2 {
		t.Errorf("the workflow that starts them had %d executions", n)
	}
}

// TestRoutinesStartRuns lets the clock go 60 times as fast, with two workers that come and go: each minute starts one run, a paused routine starts
// none, after a time without workers the latest moment starts one, and a removed program starts none.
func TestRoutinesStartRuns(t *testing.T) {
	l := launch(t, temporal.Options{Clock: wire.Clock{From: time.Now(), Times: 60}, SoftShared: 150})
	stop, stop2 := l.work(), l.work()
	l.register(`
routine "often" {
  cron     = "* * * * *"
  workflow = workflow.check
}
workflow "check" {
  step "check" { run = ["check"] }
}`)
	count := func() int { return len(l.runsOf("check")) }
	list := func() runner.Routine {
		all, err := l.Routines(t.Context())
		if err != nil || len(all) != 1 {
			t.Fatalf("routines: %v, %v", all, err)
		}
		return all[0]
	}
	l.until("three runs", func() bool { return count() >= 3 })
	stop()
	l.until("five runs", func() bool { return count() >= 5 })
	stop2() // nobody works for ten minutes
	before := count()
	time.Sleep(10 * time.Second)
	if count() != before {
		t.Errorf("%d runs without a worker", count()-before)
	}
	stop, stop2 = l.work(), l.work()
	l.until("two runs more", func() bool { return count() >= before+2 })
	if r := list(); r.Missed < 5 || r.Last == nil || r.Last.Run == "" {
		t.Errorf("%d moments were missed, and the last is %v", r.Missed, r.Last)
	}
	change := func(o event.RoutineOperation) {
		if _, err := l.Ask(t.Context(), event.StoreRequest{Routine: &event.RoutineRequest{Operation: o, Name: "often"}}); err != nil {
			t.Fatal(err)
		}
	}
	change(event.RoutinePause)
	time.Sleep(time.Second)
	before = count()
	time.Sleep(3 * time.Second)
	if count() != before || !list().Paused {
		t.Errorf("%d runs of a paused routine", count()-before)
	}
	if _, err := l.RunRoutine(t.Context(), "often"); err != nil {
		t.Fatal(err)
	}
	l.until("the run that a person has started", func() bool { return count() == before+1 })
	change(event.RoutineResume)
	l.until("a run more", func() bool { return count() >= before+2 })
	if _, err := l.Unregister(t.Context(), "/flows/flow.hcl"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	before = count()
	time.Sleep(3 * time.Second)
	if count() != before {
		t.Errorf("%d runs of a program that was removed", count()-before)
	}
	runs, seen := l.runsOf("check"), map[string]bool{}
	for _, run := range runs {
		first, err := l.Started(t.Context(), run)
		if err != nil || first.Cause == nil || first.Cause.Name != "often" {
			t.Fatalf("run %s began with %v: %v", run, first.Cause, err)
		}
		at, err := json.Marshal(first.Cause.ScheduledAt)
		if err != nil || seen[string(at)] {
			t.Errorf("the moment %s has started two runs: %v", at, err)
		}
		seen[string(at)] = true
	}
	slices.Sort(runs)
	if len(slices.Compact(runs)) != len(l.done) {
		t.Errorf("%d attempts: %s", len(l.done), strings.Join(runs, " "))
	}
}

package machine_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/loop/machine"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// office is a program with a loop on the simulated host. Work says how an agent's attempt ends and how long it takes.
type office struct {
	t     *testing.T
	p     *ir.Program
	store *sim.Store
	host  *sim.Engine
	o     sim.Options
	work  func(a event.Attempt) (event.AttemptFinished, time.Duration)
	calls []string // "AGENT ITEM" in the order of starts
	run   string
	lines []string // transitions of the loop
	told  []string // "STATE AGENT HH:MM" of the events that the loop publishes

	behaviour int // of the runs of the loop; 0: ir.Behaviour
	end       event.End
	seq       uint64 // events of the loop's journal

	machines map[string]*machine.Restored // by run, after keep

	follows bool        // run becomes the run that goes on
	ends    []event.End // of the runs
	counts  []uint64    // of the events of the runs that have ended
}

func newOffice(t *testing.T, source string) *office {
	t.Helper()
	p, diags := dsl.Load(fstest.MapFS{"w.flow.hcl": {Data: []byte(source)}}, "w.flow.hcl", dsl.Options{})
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, source)
	}
	x := &office{t: t, p: p.IR, store: sim.NewStore(1)}
	programs := new(runner.Programs)
	x.o = sim.Options{Factory: func(h journal.Header, definition []byte) (engine.Machine, error) {
		m, err := programs.Machine(h, definition)
		if loop, ok := m.(*machine.Machine); ok {
			return &machine.Restored{Machine: loop}, err
		}
		return m, err
	}, Events: programs.Events, World: x, Watch: x.watch}
	x.host = sim.New(x.store, x.o)
	return x
}

// Attempt implements sim.World.
func (x *office) Attempt(a event.Attempt, _ *rand.Rand) (event.AttemptFinished, time.Duration) {
	f := event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Outcome: event.OK}
	if a.Agent != nil {
		x.calls = append(x.calls, a.Agent.Name+" "+a.Agent.Task)
	}
	if x.work != nil {
		f, took := x.work(a)
		f.Ticket, f.Node, f.Attempt = a.Ticket, a.Node, a.Attempt
		return f, took
	}
	return f, time.Minute
}

func (x *office) watch(run string, events []event.Event, r *event.Reaction, replayed bool) {
	if run != x.run {
		return
	}
	for _, c := range r.Commands {
		if c.End != nil {
			x.end = *c.End
		}
	}
	if replayed {
		return
	}
	for _, c := range r.Commands {
		if s := c.Start; s != nil && s.Store != nil && s.Store.Loop != nil && s.Store.Loop.Operation == event.LoopTell {
			o := s.Store.Loop.Tell.(map[string]any)
			line := fmt.Sprint(o["state"])
			if o["agent"] != nil {
				line += fmt.Sprint(" ", o["agent"])
			}
			if until, is := o["until"].(string); is {
				line += " " + until[len("2026-01-01T"):][:len("15:04")]
			}
			x.told = append(x.told, line)
		}
	}
	x.seq += uint64(len(events))
	if e := x.end.Loop; e != nil && x.follows {
		x.ends, x.counts, x.end, x.seq = append(x.ends, x.end), append(x.counts, x.seq), event.End{}, 0
		if e.GoesOn {
			x.run = event.LoopRun(x.p.Loops[0].Name, e.Next.Number)
		}
	}
	for _, tr := range r.Transitions {
		x.lines = append(x.lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", tr.Node, tr.To, tr.Note, tr.Reason)))
	}
}

func (x *office) ask(r event.StoreRequest) any {
	x.t.Helper()
	v, err := x.host.Ask(context.Background(), r)
	if err != nil {
		x.t.Fatal(err)
	}
	return v
}

func (x *office) dispatch(items ...event.Item) {
	x.t.Helper()
	for i := range items {
		x.ask(event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueDispatch, Item: &items[i]}})
	}
}

// state of each dispatch, in the order of the ids.
func (x *office) states() string {
	v := x.ask(event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchList, Queue: event.QueueDispatch, All: true}})
	var out []string
	for _, i := range v.(map[string]any)["items"].([]any) {
		o := i.(map[string]any)
		out = append(out, fmt.Sprintf("%s:%s", o["id"], o["state"]))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// start makes a run of the program's only loop.
func (x *office) start(how event.LoopStart) {
	x.t.Helper()
	definition := x.p.Canonical()
	h := journal.Header{Format: journal.Format, Behaviour: cmp.Or(x.behaviour, ir.Behaviour), Definition: ir.Hash(definition), Workflow: x.p.Loops[0].Name}
	if how.Number > 0 {
		h.Run = event.LoopRun(h.Workflow, how.Number)
	}
	run, err := x.host.Start(context.Background(), engine.Start{Header: h, Definition: definition, First: event.RunStarted{Workflow: h.Workflow, Loop: &how}})
	if err != nil {
		x.t.Fatal(err)
	}
	x.run = run
}

// drive drives the run to its end.
func (x *office) drive() event.End {
	x.t.Helper()
	x.host.Add(x.run)
	if err := x.host.DriveAll(context.Background()); err != nil {
		x.t.Fatalf("%v\n%s", err, strings.Join(x.lines, "\n"))
	}
	return x.end
}

const team = `
agent "sam" {
  type         = "exec"
  command      = ["coder"]
  capabilities = ["go"]
}
agent "leo" {
  type    = "exec"
  command = ["coder"]
}
pool "team" { members = [agent.sam, agent.leo] }

workflow "do" {
  input "id" { type = string }
  input "worker" { type = string }
  step "work" {
    agent = pool.team[input.worker]
    task  = input.id
  }
}
`

const simple = team + `
loop "l" {
  agents = [pool.team]
  source "dispatch" {}
  handle {
    workflow = workflow.do
    with     = { id = item.id, worker = worker }
  }
}
`

// Items are done each once, in the order of the ladder, by who can do them, and their dispatches are closed.
func TestLoopDoesWhatIsDispatched(t *testing.T) {
	x := newOffice(t, simple)
	x.dispatch(
		event.Item{ID: "a", Title: "a"},
		event.Item{ID: "b", Title: "b", Needs: []string{"a"}},
		event.Item{ID: "c", Title: "c", Priority: 5, Capabilities: []string{"go"}},
		event.Item{ID: "d", Title: "d", Assignee: "leo"},
		event.Item{ID: "e", Title: "e", Capabilities: []string{"gpu"}},
		event.Item{ID: "f", Title: "f", Needs: []string{"g"}}, event.Item{ID: "g", Title: "g", Needs: []string{"f"}},
	)
	x.start(event.LoopStart{UntilIdle: true})
	end := x.drive()
	if got := strings.Join(x.calls, ", "); got != "sam c, leo a, sam b, leo d" && got != "sam c, leo a, leo d, sam b" {
		t.Error(got)
	}
	if got := x.states(); got != "a:closed b:closed c:closed d:closed e:open f:open g:open" {
		t.Error(got)
	}
	if end.Status != event.Succeeded || end.Outputs["closed"] != 4.0 || end.Outputs["taken"] != 4.0 {
		t.Error(end)
	}
	if text := strings.Join(x.lines, "\n"); !strings.Contains(text, "items of source dispatch need each other, and none of them is taken: f, g") {
		t.Error(text)
	}
}

// Whoever goes on with a loop says when it ends.
func TestLoopGoesOnWithAnotherEnd(t *testing.T) {
	x := newOffice(t, simple)
	x.start(event.LoopStart{})
	begin := x.store.Now()
	x.host.Schedule(sim.Moment{At: begin.Add(time.Hour), Do: func() error {
		x.ask(event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopBegin, Loop: "l", UntilIdle: true}})
		return nil
	}})
	if end, took := x.drive(), x.store.Now().Sub(begin); end.Status != event.Succeeded || took < time.Hour || took > time.Hour+time.Minute {
		t.Error(end, took)
	}
}

// An item that fails is tried once more, and is then a dead letter; the next one is done.
func TestItemFailsTwice(t *testing.T) {
	x := newOffice(t, simple)
	x.work = func(a event.Attempt) (event.AttemptFinished, time.Duration) {
		if a.Agent.Task == "bad" {
			return event.AttemptFinished{Outcome: event.Failed, Error: &event.Error{Kind: event.Recoverable, Reason: event.ReasonAgent, Message: "no"}}, time.Second
		}
		return event.AttemptFinished{Outcome: event.OK}, time.Second
	}
	x.dispatch(event.Item{ID: "bad", Title: "bad", Priority: 9}, event.Item{ID: "good", Title: "good", Capabilities: []string{"go"}})
	x.start(event.LoopStart{UntilIdle: true})
	end := x.drive()
	if got := x.states(); got != "bad:dead good:closed" {
		t.Error(got)
	}
	if end.Outputs["failed"] != 2.0 || end.Outputs["dead"] != 1.0 || end.Outputs["closed"] != 1.0 {
		t.Error(end.Outputs)
	}
}

// An empty loop costs nothing: in 24 hours no agent is called and no event is journaled, and what is dispatched then is taken at once.
func TestIdleLoopIsQuiet(t *testing.T) {
	x := newOffice(t, simple)
	x.start(event.LoopStart{})
	quiet := uint64(0)
	x.host.Schedule(sim.Moment{At: x.store.Now().Add(24 * time.Hour), Do: func() error {
		quiet = x.seq
		x.dispatch(event.Item{ID: "a", Title: "a"})
		return nil
	}})
	at := x.store.Now().Add(24 * time.Hour)
	x.work = func(event.Attempt) (event.AttemptFinished, time.Duration) {
		if late := x.store.Now().Sub(at); late > time.Second {
			t.Errorf("the item was taken %s after it was dispatched", late)
		}
		return event.AttemptFinished{Outcome: event.OK}, time.Minute
	}
	x.host.Schedule(sim.Moment{At: at.Add(time.Hour), Do: func() error {
		x.ask(event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopStop, Loop: "l", By: "ann"}})
		return nil
	}})
	end := x.drive()
	if quiet > 50 || len(x.calls) != 1 || end.Status != event.Succeeded {
		t.Errorf("%d events in 24 idle hours, calls %v, %v", quiet, x.calls, end)
	}
	t.Logf("%d events in 24 idle hours", quiet)
}

// A paused agent takes nothing until its pause is over; the others go on.
func TestPause(t *testing.T) {
	x := newOffice(t, simple)
	x.start(event.LoopStart{})
	begin := x.store.Now()
	x.ask(event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopPause, Loop: "l", Agent: "sam", For: 10 * time.Minute}})
	x.dispatch(event.Item{ID: "a", Title: "a", Capabilities: []string{"go"}}, event.Item{ID: "b", Title: "b"}, event.Item{ID: "c", Title: "c"})
	var when []string
	x.work = func(a event.Attempt) (event.AttemptFinished, time.Duration) {
		when = append(when, fmt.Sprintf("%s %s %s", a.Agent.Name, a.Agent.Task, x.store.Now().Sub(begin).Round(time.Minute)))
		return event.AttemptFinished{Outcome: event.OK}, time.Minute
	}
	x.host.Schedule(sim.Moment{At: begin.Add(time.Hour), Do: func() error {
		x.ask(event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopStop, Loop: "l"}})
		return nil
	}})
	x.drive()
	if got := strings.Join(when, ", "); got != "leo b 0s, leo c 1m0s, sam a 10m0s" {
		t.Error(got)
	}
}

// A pause lasts as long as people said, also if the clock was set back before and the loop has not heard from the store since, and a pause
// ends no stop after a fatal failure.
func TestPauseAfterTheClockWasSetBack(t *testing.T) {
	x := newOffice(t, simple)
	x.start(event.LoopStart{})
	begin := x.store.After(0)
	var when []string
	x.work = func(a event.Attempt) (event.AttemptFinished, time.Duration) {
		when = append(when, fmt.Sprintf("%s %s %s", a.Agent.Name, a.Agent.Task, x.store.After(0).Sub(begin).Round(time.Minute)))
		if a.Agent.Task == "b" {
			return event.AttemptFinished{Outcome: event.Failed, Error: &event.Error{Kind: event.Fatal, Message: "no key"}}, time.Minute
		}
		return event.AttemptFinished{Outcome: event.OK}, time.Minute
	}
	at := func(after time.Duration, do func()) {
		x.host.Schedule(sim.Moment{At: begin.Add(after), Do: func() error { do(); return nil }})
	}
	pause := func(agent string, long time.Duration) {
		x.ask(event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopPause, Loop: "l", Agent: agent, For: long}})
	}
	at(time.Minute, func() { x.dispatch(event.Item{ID: "b", Title: "b", Assignee: "leo"}) })
	at(time.Hour, func() { x.host.Jump(-30 * time.Minute) })
	at(70*time.Minute, func() {
		pause("sam", 20*time.Minute)
		x.dispatch(event.Item{ID: "a", Title: "a", Capabilities: []string{"go"}}, event.Item{ID: "c", Title: "c", Assignee: "leo"})
	})
	at(3*time.Hour, func() { x.ask(event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopStop, Loop: "l"}}) })
	x.drive()
	if got := strings.Join(when, ", "); got != "leo b 1m0s, sam a 1h30m0s" {
		t.Error(got)
	}
}

// The driver dies at each point, and another one goes on: each item is done once.
func TestLoopSurvivesCrashes(t *testing.T) {
	for at := 1; at < 400; at++ {
		x := newOffice(t, simple)
		x.dispatch(event.Item{ID: "a", Title: "a"}, event.Item{ID: "b", Title: "b", Needs: []string{"a"}}, event.Item{ID: "c", Title: "c"})
		x.start(event.LoopStart{UntilIdle: true})
		x.o.Faults = sim.Faults{CrashAt: at}
		x.host.Close()
		x.host = sim.New(x.store, x.o)
		end, err := x.host.Drive(context.Background(), x.run, nil)
		crashed := err == sim.ErrCrashed
		if crashed {
			end = x.drive()
		} else if err != nil {
			t.Fatal(at, err)
		}
		if got := x.states(); got != "a:closed b:closed c:closed" || end.Status != event.Succeeded || end.Outputs["closed"] != 3.0 {
			t.Fatalf("crash %d: %s %v\n%s", at, got, end, strings.Join(x.lines, "\n"))
		}
		if !crashed {
			if at < 20 {
				t.Errorf("only %d points", at)
			}
			t.Logf("%d points", at-1)
			return
		}
	}
	t.Error("it never ends")
}

// An item that comes while the answer to list is on its way may not be in that answer: the source is asked again.
func TestItemComesWhileTheSourceIsAsked(t *testing.T) {
	x := newOffice(t, simple)
	definition := x.p.Canonical()
	m, err := new(runner.Programs).Machine(journal.Header{Behaviour: ir.Behaviour, Definition: ir.Hash(definition), Workflow: "l"}, definition)
	if err != nil {
		t.Fatal(err)
	}
	step := func(ev event.Event) (starts []event.Attempt) {
		t.Helper()
		ev.At = event.Time(1e18)
		var r event.Reaction
		if err := m.Step(ev); err != nil {
			t.Fatal(err)
		}
		for m.Advance(1, &r) {
		}
		for _, c := range r.Commands {
			if c.Start != nil {
				starts = append(starts, *c.Start)
			}
		}
		return starts
	}
	answer := func(ticket uint64, output any) []event.Attempt {
		return step(event.Event{AttemptFinished: &event.AttemptFinished{Ticket: ticket, Outcome: event.OK, Output: output}})
	}
	listen := step(event.Event{RunStarted: &event.RunStarted{Workflow: "l", Loop: &event.LoopStart{}}})[0].Ticket
	list := answer(listen, (&event.LoopControl{Loop: "l"}).Object())
	isList := func(starts []event.Attempt) bool {
		return len(starts) == 1 && starts[0].Store.Dispatch != nil && starts[0].Store.Dispatch.Operation == event.DispatchList
	}
	if !isList(list) {
		t.Fatalf("the loop asks %+v, want a list", list)
	}
	work := event.Wake{Kind: event.WakeWork}
	if starts := step(event.Event{External: &event.External{Kind: event.ExternalWake, Data: work.Data()}}); len(starts) != 0 {
		t.Fatalf("the loop asks %+v, and the list is on its way", starts)
	}
	nothing := map[string]any{"items": []any{}}
	if list = answer(list[0].Ticket, nothing); !isList(list) {
		t.Fatalf("after a list that may be old the loop asks %+v, want another list", list)
	}
	if starts := answer(list[0].Ticket, nothing); len(starts) != 0 {
		t.Errorf("after a list that is new the loop asks %+v", starts)
	}
}

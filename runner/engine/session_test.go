package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
)

// began is when the runs of these tests begin.
var began = event.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))

// sessionOf begins a run of the suite's machine, and returns what the first event asks for.
func sessionOf(t *testing.T, p enginetest.Program, w engine.Window) (s *engine.Session, out []string) {
	t.Helper()
	start := p.Start()
	start.Header.Run, start.First.Run = "run", "run"
	m, err := enginetest.Factory(start.Header, start.Definition)
	if err != nil {
		t.Fatal(err)
	}
	s = engine.NewSession(start, m)
	s.SetWindow(w)
	if how := s.Begin(engine.Takeover{First: &start.First}); how != engine.Begins {
		t.Fatalf("the run begins in the way %d", how)
	}
	return s, feed(t, s)
}

// feed feeds what is queued, and returns the effects.
func feed(t *testing.T, s *engine.Session) (out []string) {
	t.Helper()
	r, err := s.Feed(began)
	if err != nil {
		t.Fatal(err)
	}
	out = effects(s, r)
	s.Reuse(r)
	return out
}

func effects(s *engine.Session, r *engine.Round) (out []string) {
	for x := range s.Effects(r) {
		switch {
		case x.Start != nil:
			out = append(out, fmt.Sprintf("start %s %d", x.Start.Node, x.Start.Ticket))
		case x.Never != nil:
			out = append(out, "never "+x.Never.Node)
		case x.Cancel != nil:
			out = append(out, "cancel "+x.Cancel.Node)
		case x.Child != nil:
			out = append(out, fmt.Sprintf("child %s, %d cancels", x.Child.Node, x.Wish.Cancels))
		case x.CancelChild != "":
			out = append(out, fmt.Sprintf("cancel a child, %d cancels", x.Wish.Cancels))
		}
	}
	return out
}

func mustBe(t *testing.T, what string, have []string, want ...string) {
	t.Helper()
	if !slices.Equal(have, want) {
		t.Errorf("%s: the host is asked for %q, want %q", what, have, want)
	}
}

func answer(s *engine.Session, node string, ticket uint64) {
	s.Answer(&event.AttemptFinished{Ticket: ticket, Node: node, Attempt: 1, Outcome: event.OK})
}

func three(task enginetest.Task) (p enginetest.Program) {
	for _, name := range []string{"a", "b", "c"} {
		task.Name = name
		p.Tasks = append(p.Tasks, task)
	}
	return p
}

// TestWindowOfAttempts hands out one attempt at a time, in order. An attempt that is cancelled while it waits never starts.
func TestWindowOfAttempts(t *testing.T) {
	s, out := sessionOf(t, three(enginetest.Task{}), engine.Window{Attempts: 1})
	mustBe(t, "at first", out, "start a 1")
	answer(s, "a", 1)
	answer(s, "a", 1) // again: it makes no room
	mustBe(t, "before the answer is durable", effects(s, nil), "start b 2")
	mustBe(t, "once it is", feed(t, s))
	s.Message(event.External{Inbox: 1, Kind: event.ExternalCancel})
	s.Message(event.External{Inbox: 1, Kind: event.ExternalCancel}) // the host looked again
	mustBe(t, "a cancel", feed(t, s), "cancel b", "never c")
	if queued := s.Queued(); len(queued) != 1 || queued[0].AttemptFinished == nil || queued[0].AttemptFinished.Node != "c" {
		t.Errorf("queued is %+v, want the answer of c", queued)
	}
	s.Answer(&event.AttemptFinished{Ticket: 2, Node: "b", Attempt: 1, Outcome: event.Failed, Error: &event.Error{Kind: event.Transient, Reason: event.ReasonCancelled}})
	feed(t, s)
	if end := s.Fold().End(); end == nil || end.Status != event.Cancelled {
		t.Errorf("the run ended %+v", end)
	}
}

// TestWindowOfChildren hands out one child at a time. A child that is cancelled while it waits is handed out at once, to come to its end.
func TestWindowOfChildren(t *testing.T) {
	p := three(enginetest.Task{Call: "child"})
	p.Workflows = map[string]enginetest.Program{"child": {Tasks: []enginetest.Task{{Name: "x"}}}}
	s, out := sessionOf(t, p, engine.Window{Children: 1})
	mustBe(t, "at first", out, "child a, 0 cancels")
	called := s.Fold().Called()
	var a string
	for _, run := range called {
		if node, _ := s.Fold().CalledBy(run); node == "a" {
			a = run
		}
	}
	if len(called) != 3 || a == "" || s.Children() != 3 {
		t.Fatalf("the run has called %v", called)
	}
	s.ChildEnded(event.ChildFinished{Run: a, Node: "a", Status: event.Succeeded})
	mustBe(t, "the end of the first", feed(t, s), "child b, 0 cancels")
	s.Message(event.External{Inbox: 1, Kind: event.ExternalCancel})
	mustBe(t, "a cancel", feed(t, s), "cancel a child, 1 cancels", "child c, 1 cancels")
}

// TestChildElsewhere has a child that was parked, and comes back: not before the session has let go of it, and with its end or without.
func TestChildElsewhere(t *testing.T) {
	p := enginetest.Program{Tasks: []enginetest.Task{{Name: "a", Call: "child"}}, Workflows: map[string]enginetest.Program{"child": {Tasks: []enginetest.Task{{Name: "x"}}}}}
	s, _ := sessionOf(t, p, engine.Window{})
	run := s.Fold().Called()[0]
	if s.HandBack(run, nil) {
		t.Error("a child came back that had not left")
	}
	s.ChildLeft(run)
	if due, can := s.CanPark(began); !can || due != 0 {
		t.Errorf("the run can be parked: %v, until %v", can, due)
	}
	if !s.HandBack(run, nil) {
		t.Error("the child did not come back")
	}
	mustBe(t, "a child that comes back", effects(s, nil), "child a, 0 cancels")
	s.ChildLeft(run)
	s.HandBack(run, &event.End{Status: event.Succeeded})
	feed(t, s)
	if end := s.Fold().End(); end == nil || end.Status != event.Succeeded {
		t.Errorf("the run ended %+v", end)
	}
	if s.HandBack(run, nil) && s.HasChild(run) {
		t.Error("a child came back that had ended")
	}
}

// TestEndsAtOnce cancels a run twice in one batch: the step that finally starts has ended with the run, before the host hears of the step.
func TestEndsAtOnce(t *testing.T) {
	p, list := dsl.Load(fstest.MapFS{"w.hcl": {Data: []byte(`
workflow "w" {
  step "a" { run = ["a"] }
  finally {
    step "b" { run = ["b"] }
  }
}`)}}, "w.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	g, err := plan.Build(p.IR, "w")
	if err != nil {
		t.Fatal(err)
	}
	first := event.RunStarted{Run: "run", Workflow: "w", Dir: "/"}
	start := engine.Start{Header: journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Run: "run", Workflow: "w"}, First: first}
	s := engine.NewSession(start, machine.New(g, expr.NewEvaluator(ir.NewestRules()), ir.NewestRules()))
	s.Begin(engine.Takeover{First: &first})
	mustBe(t, "the first event", feed(t, s), "start a 1")
	s.Message(event.External{Inbox: 1, Kind: event.ExternalCancel})
	answer(s, "a", 1)
	s.Message(event.External{Inbox: 2, Kind: event.ExternalCancel})
	mustBe(t, "two cancels", feed(t, s), "cancel a", "never b")
	if end := s.Fold().End(); end == nil || end.Status != event.Cancelled {
		t.Errorf("the run ended %+v", end)
	}
}

// TestTakeovers begins drives of a run that was driven before: it goes on where it was parked, or hears of its new driver after its messages.
func TestTakeovers(t *testing.T) {
	p := enginetest.Program{Tasks: []enginetest.Task{{Name: "a", Wait: time.Minute}}}
	first, _ := sessionOf(t, p, engine.Window{})
	start := *first.Start()
	begun := func() *engine.Session {
		m, err := enginetest.Factory(start.Header, start.Definition)
		if err != nil {
			t.Fatal(err)
		}
		s := engine.NewSession(engine.Start{Header: start.Header}, m)
		live, _ := enginetest.Factory(start.Header, start.Definition)
		journal := engine.NewSession(start, live)
		journal.Queue(event.Event{RunStarted: &start.First})
		r, err := journal.Feed(began)
		if err == nil {
			_, err = s.Rebuild(r.Batch)
		}
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := begun()
	if how := s.Begin(engine.Takeover{Driven: true, Parked: true}); how != engine.Continues || len(s.Queued()) > 0 {
		t.Errorf("a parked run: %d, queued %+v", how, s.Queued())
	}
	if due, ok := s.NextTimer(); !ok || due != began.Add(time.Minute) {
		t.Errorf("its timer is due at %v: %v", due, ok)
	}
	s = begun()
	if how := s.Begin(engine.Takeover{Fresh: true}); how != engine.Acts {
		t.Errorf("a run that was just made: %d", how)
	}
	s = begun()
	s.Message(event.External{Inbox: 7, Kind: event.ExternalCancel})
	if how := s.Begin(engine.Takeover{Driven: true, Changed: event.DriverChanged{Lost: true}}); how != engine.Changes {
		t.Errorf("a run of a dead driver: %d", how)
	}
	queued := s.Queued()
	if len(queued) != 2 || queued[0].External == nil || queued[1].DriverChanged == nil || !queued[1].DriverChanged.Lost || queued[1].DriverChanged.Since != began {
		t.Errorf("queued is %+v", queued)
	}
}

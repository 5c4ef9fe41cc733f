package retry_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/retry"
	"github.com/flowrun/flowrun/runner/view"
)

var seeds = flag.Int("retry.seeds", 20, "runs with random failures of each program of the corpus, each of which is repeated")

// TestCorpus lets attempts of every program of the corpus fail at random, and repeats the run. What must hold: the new run ends; of what it
// reuses nothing is started, and all is as it was; its journal replays; and where nothing fails any more and nothing that
// failed was tolerated, it ends as a run in which nothing ever failed.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob("../../testdata/journals/*/*.journal")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d journals, %v", len(files), err)
	}
	c := &counts{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.SplitN(text, []byte("\n"), 4)
		var h struct{ Workflow string }
		if err := json.Unmarshal(lines[1], &h); err != nil {
			t.Fatal(err)
		}
		p, err := ir.Load(lines[2])
		if err != nil {
			t.Fatal(err)
		}
		g, err := plan.Build(p, h.Workflow)
		if err != nil {
			t.Fatal(err)
		}
		first := firstEvent(t, lines[3])
		for seed := range *seeds {
			if err := c.one(g, first, seed); err != nil {
				t.Errorf("%s, seed %d: %v", filepath.Base(name), seed, err)
			}
		}
	}
	t.Logf("%d runs, %d of them failed; %d repeated, which reused %d ends, were told %d and made %d attempts and calls; %d refused",
		c.runs, c.failed, c.repeated, c.reused, c.set, c.made, c.refused)
	if c.failed == 0 || c.set == 0 || c.reused == 0 || c.made == 0 {
		t.Error("nothing failed, or nothing was reused: the test looks at nothing")
	}
}

type counts struct{ runs, failed, repeated, reused, made, refused, set int }

// firstEvent is the run_started of a journal of the corpus, which stands behind the line of its batch.
func firstEvent(t *testing.T, batches []byte) event.RunStarted {
	t.Helper()
	var ev event.Event
	if err := json.Unmarshal(bytes.SplitN(batches, []byte("\n"), 3)[1], &ev); err != nil || ev.RunStarted == nil {
		t.Fatalf("no first event: %v", err)
	}
	first := *ev.RunStarted
	first.Budget = nil // a run that is repeated alone has no caller
	return first
}

// one makes a run with random failures, and repeats it: some from a step on, or one step alone.
func (c *counts) one(g *plan.Graph, first event.RunStarted, seed int) error {
	draw := func(name string) bool {
		h := fnv.New32a()
		fmt.Fprintf(h, "%d %s", seed, name)
		return h.Sum32()%5 == 0
	}
	before, err := make1(g, first, draw)
	if err != nil {
		return fmt.Errorf("the first run: %w", err)
	}
	c.runs++
	if before.view.Status != event.Succeeded {
		c.failed++
	}
	var wish retry.Wish
	if name := g.Nodes[seed%len(g.Nodes)].Name; seed%4 == 2 {
		wish.From = name
	} else if seed%4 == 3 {
		wish.Only = name
	}
	if seed%4 == 1 {
		wish.By = "ann"
		before.view.Each(func(n *view.Node, _ int) {
			if len(wish.Set) == 0 && g.Nodes[g.Number(n.Name)].Kind == ir.Step && draw("set "+n.Path) {
				set := retry.Set{Step: n.Path}
				if n.Result != nil && n.Status == event.Succeeded {
					set.Output = n.Result.Output
				}
				wish.Set = append(wish.Set, set)
			}
		})
	}
	p, err := retry.Of(g, &first, before.view, wish)
	if no := (*retry.Refusal)(nil); errors.As(err, &no) {
		c.refused++
		return nil
	} else if err != nil {
		return err
	}
	again := first
	again.Run, again.RetryOf, again.Reused, again.Targets = "zzzzzzzzzzzz", first.Run, p.Reused, p.Targets
	after, err := make1(g, again, func(string) bool { return false })
	if err != nil {
		return fmt.Errorf("the run that repeats it: %w", err)
	}
	c.repeated, c.reused, c.made = c.repeated+1, c.reused+len(p.Reused), c.made+len(after.started)
	for _, node := range after.started {
		if p.Reused[node] != nil {
			return fmt.Errorf("%s is reused, and was started", node)
		}
	}
	for path, kept := range p.Reused {
		was, is := before.view.Node(path), after.view.Node(path)
		if kept.Set {
			c.set++
			if is != nil && is.Status == event.Succeeded && (!is.Result.Set || is.Result.By != "ann" || is.Result.Reused || !value.Equal(is.Result.Output, kept.Output)) {
				return fmt.Errorf("%s is set, and is %+v", path, is.Result)
			}
			continue
		}
		if is == nil && g.Nodes[g.Number(view.Base(path))].Joins() {
			continue // its join had enough before it came up
		}
		if is == nil || is.Status != was.Status || kept.Status != was.Status {
			return fmt.Errorf("%s is reused: it was %s, and is %+v", path, was.Status, is)
		}
		if !value.Equal(is.Result.Output, was.Result.Output) || is.Result.Attempts != was.Result.Attempts || is.Result.Winner != was.Result.Winner {
			return fmt.Errorf("%s is reused: it was %+v, and is %+v", path, was.Result, is.Result)
		}
	}
	if wish.From != "" || wish.Only != "" || len(wish.Set) > 0 || tolerated(before.view) {
		return nil
	}
	fresh, err := make1(g, first, func(string) bool { return false })
	if err == nil && after.view.Status != fresh.view.Status {
		err = fmt.Errorf("it ends as %s, and a run in which nothing fails as %s", after.view.Status, fresh.view.Status)
	}
	return err
}

func tolerated(r *view.Run) (found bool) {
	r.Each(func(n *view.Node, _ int) { found = found || n.Result != nil && n.Result.Tolerated })
	return found
}

// made is a run that ended.
type made struct {
	view    *view.Run
	started []string
}

// listens reports whether a node waits for an event, which nobody publishes here.
func listens(r *view.Run) (found bool) {
	r.Each(func(n *view.Node, _ int) { found = found || n.WaitsFor != nil && n.WaitsFor.Kind == event.WaitEvent })
	return found
}

// make1 makes a run: attempts are answered in the order in which they were asked for, timers fire when nothing else can happen, and a
// run that waits for nothing but events is cancelled.
// Then its events are fed to another machine, as a journal has them, which must do the same.
func make1(g *plan.Graph, first event.RunStarted, fails func(string) bool) (*made, error) {
	out := &made{view: view.New(g.Workflow)}
	out.view.Forget() // as the command's does
	m := machine.New(g, expr.NewEvaluator(ir.NewestRules(), g.Program.Files), ir.NewestRules())
	queue, timers := []event.Event{{RunStarted: &first}}, []event.SetTimer(nil)
	var events []event.Event
	var trace []byte
	now := event.Time(1e18)
	for !out.view.Status.Terminal() {
		var ev event.Event
		if len(queue)+len(timers) == 0 {
			if !listens(out.view) {
				return nil, fmt.Errorf("it waits for nothing and is %s", out.view.Status)
			}
			queue = append(queue, event.Event{External: &event.External{Kind: event.ExternalCancel}})
		}
		if len(queue) > 0 {
			ev, queue = queue[0], queue[1:]
		} else {
			next := 0
			for i := range timers {
				if timers[i].Due < timers[next].Due {
					next = i
				}
			}
			now = max(now, timers[next].Due)
			ev = event.Event{TimerFired: &event.TimerFired{Timer: timers[next].Timer, Node: timers[next].Node}}
			timers = append(timers[:next], timers[next+1:]...)
		}
		now += 1e9
		ev.Seq, ev.At = uint64(len(events)+1), now
		if len(events) > 10_000 {
			return nil, errors.New("it does not end")
		}
		events = append(events, ev)
		r, err := step(m, ev, 1000)
		if err != nil {
			return nil, err
		}
		trace = appendTrace(trace, r)
		out.view.Apply([]event.Event{ev}, r)
		for i := range r.Commands {
			switch c := &r.Commands[i]; {
			case c.Start != nil:
				out.started = append(out.started, c.Start.Node)
				queue = append(queue, answerTo(c.Start, fails))
				if s := c.Start.Store; s != nil && s.Emit != nil {
					data := map[string]any{"id": c.Start.Key, "name": s.Emit.Name, "data": s.Emit.Data}
					queue = append(queue, event.Event{External: &event.External{Kind: event.ExternalEvent, Data: data}})
				}
			case c.Ask != nil:
				who := c.Ask.Approvers
				if len(who) == 0 {
					who = []string{"somebody"}
				}
				for _, by := range who {
					d := event.Decision{Ask: c.Ask.Number, Shown: c.Ask.Shown, Word: c.Ask.Words[0], By: by, Comment: "fine"}
					queue = append(queue, event.Event{External: &event.External{Kind: event.ExternalDecision, Node: c.Ask.Node, Data: d.Data()}})
				}
			case c.StartChild != nil:
				out.started = append(out.started, c.StartChild.Node)
				f := &event.ChildFinished{Run: c.StartChild.Run, Node: c.StartChild.Node, Status: event.Succeeded}
				if fails(c.StartChild.Run) {
					f.Status = event.FailedS
				}
				queue = append(queue, event.Event{ChildFinished: f})
			case c.SetTimer != nil:
				timers = append(timers, *c.SetTimer)
			}
		}
	}
	other := machine.New(g, expr.NewEvaluator(ir.NewestRules(), g.Program.Files), ir.NewestRules())
	var again []byte
	for _, ev := range events {
		text, err := json.Marshal(ev)
		if err != nil {
			return nil, err
		}
		var stored event.Event
		if err := json.Unmarshal(text, &stored); err != nil {
			return nil, err
		}
		r, err := step(other, stored, 3)
		if err != nil {
			return nil, err
		}
		again = appendTrace(again, r)
	}
	if !bytes.Equal(trace, again) {
		return nil, errors.New("its journal does not replay")
	}
	return out, nil
}

func step(m *machine.Machine, ev event.Event, budget int) (*event.Reaction, error) {
	if err := m.Step(ev); err != nil {
		return nil, err
	}
	r := &event.Reaction{}
	for m.Advance(budget, r) {
	}
	return r, nil
}

// appendTrace writes a reaction with all that is shown.
func appendTrace(dst []byte, r *event.Reaction) []byte {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // plain data
	}
	return append(dst, text...)
}

// answerTo succeeds, with something of every sort, or fails.
func answerTo(a *event.Attempt, fails func(string) bool) event.Event {
	f := &event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Gate: a.Gate, Compensate: a.Compensate, Outcome: event.OK,
		Stdout: `{"n": 1}`}
	if fails(fmt.Sprint(a.Node, a.Attempt, a.Gate)) {
		f.Outcome, f.Error = event.Failed, &event.Error{Kind: event.Transient, Reason: event.ReasonExit, Message: "exit code 1", ExitCode: 1}
	}
	return event.Event{AttemptFinished: f}
}

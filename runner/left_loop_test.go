package runner_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/local"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

const longLoop = `
agent "sam" { type = "null" }

loop "team" {
  agents    = [agent.sam]
  lease     = "1m"
  heartbeat = "20ms"
  source "dispatch" {}
  handle {
    when     = "'ask' in item.labels"
    workflow = workflow.ask
  }
  handle { workflow = workflow.work }
}

workflow "ask" {
  step "ok" {
    approve { prompt = "May it?" }
  }
}

workflow "work" {
  step "a" { value = 1 }
}
`

// loopOffice is a store with a registered loop, and a process that works in it.
type loopOffice struct {
	*runner.Service
	t     *testing.T
	dir   string
	clock movedClock
}

func (x *loopOffice) open() {
	x.t.Helper()
	x.Service = runner.New(runner.Options{Store: x.dir})
	host, err := local.Open(x.dir, local.Options{Factory: x.Machine, Executor: x, Group: x.Group, Events: x.Events, Watch: x.Observe, Clock: &x.clock})
	if err != nil {
		x.t.Fatal(err)
	}
	x.Attach(host)
}

func (x *loopOffice) ask(r event.StoreRequest) any {
	x.t.Helper()
	v, err := x.Ask(x.t.Context(), r)
	if err != nil {
		x.t.Fatal(err)
	}
	return v
}

func (x *loopOffice) dispatch(id string, labels ...string) {
	x.ask(event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueDispatch, Item: &event.Item{ID: id, Title: id, Labels: labels}}})
}

// await waits until an item stands so, and returns its run.
func (x *loopOffice) await(id string, state event.ClaimState) (run string) {
	x.t.Helper()
	for due := time.Now().Add(2 * time.Minute); time.Now().Before(due); time.Sleep(2 * time.Millisecond) {
		for _, row := range x.ask(event.StoreRequest{Claims: true}).([]any) {
			if c, err := event.ClaimOf(row); err == nil && c.Item == "dispatch/"+id && c.State == state {
				return c.Run
			}
		}
	}
	x.t.Fatalf("item %s is never %s", id, state)
	return ""
}

// keep starts what a daemon would start now, and drives it; over tells the end.
func (x *loopOffice) keep() (run string, over chan event.End) {
	x.t.Helper()
	started, err := x.NewLoopKeeper(false).Keep(x.t.Context())
	if err != nil || len(started) != 1 || !started[0].Begun {
		x.t.Fatalf("%+v was started, %v", started, err)
	}
	over = make(chan event.End, 1)
	go func() {
		end, err := x.Drive(x.t.Context(), started[0].Run, nil)
		if err != nil && !errors.Is(err, context.Canceled) {
			x.t.Error(err)
		}
		over <- end
	}()
	return started[0].Run, over
}

// The process dies between the end of a run of a loop that goes on and the start of the next one. The next process starts that one, which goes
// on with the item that waits. Each item has one run.
func TestLoopWhoseNextRunWasNotStarted(t *testing.T) {
	x := &loopOffice{t: t, dir: t.TempDir()}
	x.open()
	p, list := dsl.Load(fstest.MapFS{"flow.hcl": {Data: []byte(longLoop)}}, "flow.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	definition := p.IR.Canonical()
	start := engine.Start{Header: journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Definition: ir.Hash(definition), Workflow: "team"},
		Definition: definition, First: event.RunStarted{Workflow: "team", Dir: t.TempDir()}}
	if _, err := x.Register(t.Context(), "/flow.hcl", &start); err != nil {
		t.Fatal(err)
	}
	run, over := x.keep()
	x.dispatch("a", "ask")
	asked := x.await("a", event.ClaimParked)
	x.clock.ahead.Add(int64(25 * time.Hour))
	x.dispatch("b")
	end := <-over
	if run != event.LoopRun("team", 1) || end.Status != event.Succeeded || end.Loop == nil || !end.Loop.GoesOn {
		t.Fatalf("run %s ends with %+v", run, end)
	}
	if err := x.Close(); err != nil { // nobody has started the next run
		t.Fatal(err)
	}

	x.open()
	run, over = x.keep()
	if run != event.LoopRun("team", 2) {
		t.Fatalf("run %s follows", run)
	}
	x.ask(event.StoreRequest{Decide: &event.DecideRequest{Run: asked, Node: "ok", Decision: event.Decision{Word: event.WordApprove, By: "ann"}}})
	x.dispatch("c")
	for _, id := range []string{"a", "b", "c"} {
		x.await(id, event.ClaimClosed)
	}
	x.ask(event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopStop, Loop: "team"}})
	first, _ := end.Outputs["closed"].(float64) // whether it has taken b before its end is a matter of moments
	end = <-over
	if second, _ := end.Outputs["closed"].(float64); first+second != 3 || second < 2 || end.Loop.GoesOn {
		t.Errorf("the second run ends with %+v, and %v items closed before", end, first)
	}
	all, err := x.List(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var did []string
	for _, info := range all {
		did = append(did, info.Workflow)
	}
	if slices.Sort(did); !slices.Equal(did, []string{"ask", "team", "team", "work", "work"}) {
		t.Error(did)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
}

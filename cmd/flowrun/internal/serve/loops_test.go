package serve

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/standalone"
)

const loopProgram = `
agent "sam" { type = "null" }

loop "team" {
  agents = [agent.sam]
  source "dispatch" {}
  handle { workflow = workflow.work }
}

workflow "work" {
  step "a" { value = 1 }
  output "a" { value = step.a.output }
}
`

// registering registers a program under a path.
func registering(t *testing.T, s *standalone.Store, path, text string) engine.Start {
	t.Helper()
	p, list := dsl.Load(fstest.MapFS{"flow.hcl": {Data: []byte(text)}}, "flow.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	definition := p.IR.Canonical()
	start := engine.Start{Header: journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Definition: ir.Hash(definition), Workflow: "team"},
		Definition: definition, First: event.RunStarted{Workflow: "team", Dir: t.TempDir()}}
	if _, err := s.Register(context.Background(), path, &start); err != nil {
		t.Fatal(err)
	}
	return start
}

func dispatching(t *testing.T, s *standalone.Store, title string) {
	t.Helper()
	r := event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueDispatch, Item: &event.Item{Title: title}}}
	if _, err := s.Ask(context.Background(), r); err != nil {
		t.Fatal(err)
	}
}

// closed counts the items that are done.
func closed(t *testing.T, s *standalone.Store) (n int) {
	t.Helper()
	v, err := s.Ask(context.Background(), event.StoreRequest{Claims: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range v.([]any) {
		if c, err := event.ClaimOf(row); err == nil && c.State == event.ClaimClosed {
			n++
		}
	}
	return n
}

func loopNamed(t *testing.T, s *standalone.Store, name string) runner.Loop {
	t.Helper()
	list, err := s.Loops(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(list, func(l runner.Loop) bool { return l.Name == name })
	if at < 0 {
		return runner.Loop{}
	}
	return list[at]
}

// TestLoopsAreKept has a daemon keep a loop: it starts when it is registered, follows its program, rests when people stop it, and ends when
// it is removed.
func TestLoopsAreKept(t *testing.T) {
	dir := t.TempDir()
	s, err := standalone.Open(dir, standalone.Options{AnyRoom: true})
	if err != nil {
		t.Fatal(err)
	}
	_, _, stop := serving(t, s, ServerOptions{})
	registering(t, s, "/flow.hcl", loopProgram)
	until(t, "the loop runs", func() bool { l := loopNamed(t, s, "team"); return l.Live() })
	first := loopNamed(t, s, "team")
	dispatching(t, s, "one")
	until(t, "the item is done", func() bool { return closed(t, s) == 1 })

	changed := registering(t, s, "/flow.hcl", strings.Replace(loopProgram, "value = 1", "value = 2", 1))
	until(t, "the loop runs with the new program", func() bool {
		l := loopNamed(t, s, "team")
		return l.Live() && l.Run.Definition == changed.Header.Definition
	})
	if l := loopNamed(t, s, "team"); l.Number != first.Number+1 || l.Run.Run != event.LoopRun("team", l.Number) {
		t.Fatalf("run %s, number %d, follows number %d", l.Run.Run, l.Number, first.Number)
	}

	ask := func(op event.LoopOperation) {
		t.Helper()
		if _, err := s.Ask(context.Background(), event.StoreRequest{Loop: &event.LoopRequest{Operation: op, Loop: "team"}}); err != nil {
			t.Fatal(err)
		}
	}
	ask(event.LoopStop)
	until(t, "the loop has ended", func() bool { l := loopNamed(t, s, "team"); return !l.Live() })
	ended := loopNamed(t, s, "team")
	if err := stop(); err != nil {
		t.Fatal(err)
	}

	// Another daemon leaves it alone until somebody asks that it goes on.
	if s, err = standalone.Open(dir, standalone.Options{AnyRoom: true}); err != nil {
		t.Fatal(err)
	}
	k := s.NewLoopKeeper(false)
	if started, err := k.Keep(context.Background()); err != nil || len(started) > 0 {
		t.Fatalf("%v was started, %v", started, err)
	}
	ask(event.LoopResume)
	serving(t, s, ServerOptions{})
	dispatching(t, s, "two")
	until(t, "the second item is done", func() bool { return closed(t, s) == 2 })
	if l := loopNamed(t, s, "team"); l.Number != ended.Number+1 {
		t.Fatalf("number %d follows number %d", l.Number, ended.Number)
	}
	if _, err := s.Unregister(context.Background(), "/flow.hcl"); err != nil {
		t.Fatal(err)
	}
	until(t, "the loop has ended", func() bool { l := loopNamed(t, s, "team"); return l.Run != nil && !l.Live() })
	if l := loopNamed(t, s, "team"); l.Run.Status != event.Succeeded || l.Program != "" {
		t.Fatalf("%s, registered by %q", l.Run.Status, l.Program)
	}
}

// TestLoopStartsOnce has many keepers race for the run of a loop, with the run before ended by a cancel.
func TestLoopStartsOnce(t *testing.T) {
	s, err := standalone.Open(t.TempDir(), standalone.Options{AnyRoom: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	start := registering(t, s, "/flow.hcl", loopProgram)
	race := func() (runs map[string]int) {
		var mu sync.Mutex
		var all sync.WaitGroup
		runs = map[string]int{}
		for i := range 8 {
			all.Go(func() {
				run := ""
				if i%2 == 0 {
					info, _, err := s.StartLoop(context.Background(), start, nil)
					if run = info.Run; err != nil {
						t.Error(err)
					}
				} else {
					started, err := s.NewLoopKeeper(false).Keep(context.Background())
					if err != nil {
						t.Error(err)
					}
					if len(started) == 0 { // another one was faster
						return
					}
					run = started[0].Run
				}
				mu.Lock()
				defer mu.Unlock()
				runs[run]++
			})
		}
		all.Wait()
		return runs
	}
	if runs := race(); len(runs) != 1 || runs[event.LoopRun("team", 1)] == 0 {
		t.Fatal(runs)
	}
	if err := s.Cancel(context.Background(), event.LoopRun("team", 1), ""); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Drive(context.Background(), event.LoopRun("team", 1), nil); err != nil {
		t.Fatal(err)
	}
	if started, err := s.NewLoopKeeper(false).Keep(context.Background()); err != nil || len(started) > 0 {
		t.Fatalf("%v was started after a cancel, %v", started, err)
	}
	if runs := race(); len(runs) != 1 || runs[event.LoopRun("team", 2)] == 0 {
		t.Fatal(runs)
	}
}

// TestLadder: the state of a loop says what each agent has, what it takes next, and why nobody takes the other items.
func TestLadder(t *testing.T) {
	s, err := standalone.Open(t.TempDir(), standalone.Options{AnyRoom: true})
	if err != nil {
		t.Fatal(err)
	}
	dispatching(t, s, "first")
	dispatching(t, s, "second")
	r := event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueDispatch, Item: &event.Item{Title: "third", Assignee: "ben"}}}
	if _, err := s.Ask(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	serving(t, s, ServerOptions{})
	registering(t, s, "/flow.hcl", strings.Replace(loopProgram, "value = 1", `run = "exec sleep 1000"`, 1))
	var l *LoopLadder
	until(t, "the first item is taken", func() bool {
		status, err := ReadLoop(context.Background(), s, "team")
		if err != nil {
			t.Fatal(err)
		}
		l = status.Ladder
		return l != nil && len(l.Items) == 3 && strings.Contains(l.Items[0].Why[0], "sam has it, in run")
	})
	if l.At == "" || l.Draining != "" || len(l.Agents) != 1 || l.Agents[0].Agent != "sam" || l.Agents[0].Free != 0 || len(l.Agents[0].Items) != 1 {
		t.Errorf("the agents stand like this: %+v", l)
	}
	if len(l.Choices) != 0 || len(l.Later) != 1 || l.Later[0].Agent != "sam" || l.Later[0].Source != "dispatch" || l.Later[0].Title != "second" {
		t.Errorf("next are %+v and %+v", l.Choices, l.Later)
	}
	if second, third := l.Items[1].Why[0], l.Items[2].Why[0]; second != "sam has no free place, or takes another item first" || third != "it is assigned to ben" {
		t.Errorf("reasons are %q and %q", second, third)
	}
	list, err := ReadLoops(context.Background(), s)
	if err != nil || list[0].Ladder != nil {
		t.Errorf("the list of loops has ladders, %v", err)
	}
	if _, err := s.Ask(context.Background(), event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopStop, Loop: "team", By: "ann"}}); err != nil {
		t.Fatal(err)
	}
	until(t, "the loop takes nothing more", func() bool {
		status, err := ReadLoop(context.Background(), s, "team")
		return err == nil && status.Ladder != nil && status.Ladder.Draining != "" && len(status.Ladder.Later) == 0
	})
}

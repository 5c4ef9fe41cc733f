package temporal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal"
	"github.com/flowrun/flowrun/runner/event"
)

const loopFile = `
agent "ann" { type = "null" }
agent "bob" { type = "null" }

loop "NAME" {
  agents   = [agent.ann, agent.bob]
  idle     = "100ms"
  idle_max = "1s"
  source "dispatch" {}
  source "backlog" {
    from = "file"
    path = "TODO.md"
  }
  handle {
    workflow = workflow.item
    with     = { id = item.id }
  }
}

workflow "item" {
  input "id" { type = string }
  step "do" { run = ["do", "--", input.id] }
}
`

// TestLoops runs a registered loop with two workers that come and go, and with executions so short that the loop continues as new many times, also
// while it watches a file: each item is done once, a stop ends the loop, and it goes on when somebody asks for it.
func TestLoops(t *testing.T) {
	l := launch(t, temporal.Options{Soft: 60})
	name := "l" + engine.NewID() // the ids of runs are hashes of the names of loops and items
	todo := filepath.Join(l.dir, "TODO.md")
	list := "# Work\n\n"
	write := func(from, to int) {
		for i := from; i < to; i++ {
			list += fmt.Sprintf("- [ ] chapter %s %d\n", name, i)
		}
		if have, err := os.ReadFile(todo); err == nil { // what the loop has ticked stays
			list = string(have) + list[len(list)-(to-from)*len(fmt.Sprintf("- [ ] chapter %s %d\n", name, from)):]
		}
		if err := os.WriteFile(todo, []byte(list), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	add := func(from, to int) {
		for i := from; i < to; i++ {
			r := &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueDispatch, Item: &event.Item{ID: fmt.Sprint(name, i), Title: fmt.Sprint("item ", i)}}
			if _, err := l.Ask(t.Context(), event.StoreRequest{Dispatch: r}); err != nil {
				t.Fatal(err)
			}
		}
	}
	count := func() int { return len(l.runsOf("do")) }
	loop := func() runner.Loop {
		all, err := l.Loops(t.Context())
		if err != nil || len(all) != 1 {
			t.Fatalf("loops: %v, %v", all, err)
		}
		return all[0]
	}
	ask := func(o event.LoopOperation) {
		if _, err := l.Ask(t.Context(), event.StoreRequest{Loop: &event.LoopRequest{Operation: o, Loop: name, By: "ann"}}); err != nil {
			t.Fatal(err)
		}
	}
	write(10, 14)
	stop := l.work()
	l.work()
	l.register(strings.ReplaceAll(loopFile, "NAME", name))
	add(0, 10)
	l.until("14 items are done", func() bool { return count() >= 14 })
	time.Sleep(3 * time.Second) // it watches the file
	stop()
	add(10, 15)
	l.until("19 items are done", func() bool { return count() >= 19 })
	l.work()
	write(14, 18)
	l.until("23 items are done", func() bool { return count() >= 23 })
	first := loop().Run.Run
	ask(event.LoopStop)
	l.until("the loop has ended", func() bool { return !func() bool { r := loop(); return r.Live() }() })
	add(15, 18)
	time.Sleep(3 * time.Second)
	if count() != 23 {
		t.Errorf("%d items were done by a loop that was stopped", count()-23)
	}
	ask(event.LoopResume)
	l.until("26 items are done", func() bool { return count() >= 26 })
	if r := loop(); r.Run.Run == first || !r.Live() {
		t.Errorf("the loop has the run %v after %s", r.Run, first)
	}
	if n := len(histories(t, first)); n < 3 {
		t.Errorf("the loop had %d executions", n)
	}
	ask(event.LoopStop)
	l.until("the loop has ended", func() bool { return !func() bool { r := loop(); return r.Live() }() })
	runs := l.runsOf("do")
	slices.Sort(runs)
	if len(slices.Compact(slices.Clone(runs))) != 26 || len(runs) != 26 {
		t.Errorf("26 items were done by %d runs, in %d attempts", len(slices.Compact(runs)), len(runs))
	}
}

// TestLoopEvents has people pause and resume one agent of a loop, and then stop the loop. Each is an event, which starts a workflow once and wakes a run that
// waits for it, by two workers.
func TestLoopEvents(t *testing.T) {
	l := launch(t, temporal.Options{})
	l.work()
	l.work()
	name := "l" + engine.NewID()
	text := strings.ReplaceAll(loopFile+`
on "flowrun.loop" {
  workflow = workflow.note
  when     = "event.loop == 'NAME'"
  with     = { state = event.state, agent = event.agent == null ? "" : event.agent }
}

workflow "note" {
  input "state" { type = string }
  input "agent" { type = string }
  step "note" { run = ["note", "--", input.state, input.agent] }
}

workflow "waits" {
  step "hear" {
    wait {
      event = "flowrun.loop"
      match = "event.state == 'resumed'"
    }
  }
  step "heard" {
    run        = ["heard"]
    depends_on = [step.hear]
  }
}
`, "NAME", name)
	l.register(text)
	notes := func() (all []string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, a := range l.done {
			if a.Name == "note" {
				all = append(all, strings.TrimSpace(strings.Join(a.Argv[2:], " ")))
			}
		}
		return all
	}
	control := func(o event.LoopOperation, agent string) {
		if _, err := l.Ask(t.Context(), event.StoreRequest{Loop: &event.LoopRequest{Operation: o, Loop: name, Agent: agent, By: "ann"}}); err != nil {
			t.Fatal(err)
		}
	}
	l.until("the loop runs", func() bool {
		all, err := l.Loops(t.Context())
		return err == nil && len(all) == 1 && all[0].Live()
	})
	b := begin(parse(t, text))
	b.Header.Workflow, b.First.Workflow = "waits", "waits"
	run, err := l.Start(t.Context(), b, nil)
	if err != nil {
		t.Fatal(err)
	}
	l.until("a run waits", func() bool {
		info, err := l.Get(t.Context(), run)
		return err == nil && info.Status == event.Waiting
	})
	control(event.LoopPause, "bob")
	l.until("the pause is noted", func() bool { return len(notes()) == 1 })
	control(event.LoopResume, "bob")
	l.until("the resumption is noted and heard", func() bool { return len(notes()) == 2 && len(l.runsOf("heard")) == 1 })
	control(event.LoopStop, "")
	l.until("the stop is noted", func() bool { return len(notes()) >= 3 })
	if want, got := []string{"paused bob", "resumed bob", "stopped"}, notes(); !slices.Equal(got, want) {
		t.Errorf("the events are %q, want %q", got, want)
	}
}

// TestLoopsHandOver ends the run of a loop while the runs of two items wait for an event. One ends before the next run of the loop begins, and one after:
// the next one hears of both, and starts none of them again.
func TestLoopsHandOver(t *testing.T) {
	l := launch(t, temporal.Options{})
	l.work()
	l.work()
	name := "l" + engine.NewID()
	p := parse(t, strings.ReplaceAll(`
agent "ann" { type = "null" }
agent "bob" { type = "null" }

loop "NAME" {
  agents   = [agent.ann, agent.bob]
  idle     = "100ms"
  idle_max = "1s"
  source "dispatch" {}
  handle {
    workflow = workflow.item
    with     = { id = item.id }
  }
}

workflow "item" {
  input "id" { type = string }
  step "hear" {
    wait {
      event = "go"
      match = "event == input.id"
    }
  }
  step "do" {
    run        = ["do"]
    depends_on = [step.hear]
  }
}`, "NAME", name))
	var items []string
	for i := range 2 {
		items = append(items, fmt.Sprint(name, i))
		r := &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueDispatch, Item: &event.Item{ID: items[i], Title: items[i]}}
		if _, err := l.Ask(t.Context(), event.StoreRequest{Dispatch: r}); err != nil {
			t.Fatal(err)
		}
	}
	loop := func() string {
		b := begin(p)
		b.Header.Workflow, b.First.Workflow, b.First.Loop = name, name, &event.LoopStart{UntilIdle: true}
		info, _, err := l.StartLoop(t.Context(), b, nil)
		if err != nil {
			t.Fatal(err)
		}
		return info.Run
	}
	claims := func(state event.ClaimState) (n int) {
		v, err := l.Ask(t.Context(), event.StoreRequest{Claims: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range v.([]any) {
			if c, err := event.ClaimOf(row); err != nil || c.State == state && c.Failures == 0 {
				n++
			}
		}
		return n
	}
	ended := func(run string) bool {
		info, err := l.Get(t.Context(), run)
		return err == nil && info.Status.Terminal()
	}
	say := func(item string) {
		if _, err := l.Ask(t.Context(), event.StoreRequest{Emit: &event.EmitRequest{Name: "go", Data: item}}); err != nil {
			t.Fatal(err)
		}
	}
	first := loop()
	l.until("the first run has ended", func() bool { return ended(first) })
	if n := claims(event.ClaimParked); n != 2 {
		t.Fatalf("%d items are parked", n)
	}
	say(items[0])
	l.until("one item is done", func() bool { return len(l.runsOf("do")) == 1 })
	time.Sleep(time.Second)
	second := loop()
	l.until("one claim is closed", func() bool { return claims(event.ClaimClosed) == 1 })
	say(items[1])
	l.until("both items are done", func() bool { return len(l.runsOf("do")) == 2 })
	if ended(second) { // it may have been idle before it heard of the second item
		second = loop()
	}
	l.until("both claims are closed", func() bool { return claims(event.ClaimClosed) == 2 })
	l.until("the loop has ended", func() bool { return ended(second) })
}

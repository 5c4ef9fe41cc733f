package reuse_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/replay"
	"github.com/flowrun/flowrun/runner/retry"
	"github.com/flowrun/flowrun/runner/reuse"
	"github.com/flowrun/flowrun/runner/view"
)

const program = `
workflow "w" {
  step "a" { run = ["a"] }
  step "ok" {
    depends_on = [step.a]
    approve {
      prompt = "Ship ${step.a.output}?"
    }
  }
  step "pause" {
    depends_on = [step.ok]
    wait { duration = "10m" }
  }
  step "b" {
    depends_on = [step.pause]
    run        = ["b"]
    timeout    = "20h"
  }
  step "c" {
    depends_on = [step.b]
    run        = ["c"]
  }
  output "n" { value = step.a.output }
}
`

// A run in which a person decided, a driver died for a night and attempts were refused is worth to a changed file all that the file
// asks for in the same words.
func TestWhatCounts(t *testing.T) {
	for _, c := range []struct{ name, from, to, again string }{
		{"nothing changed", "", "", "c failed"},
		{"the failed step is mended", `["c"]`, `["c", "now"]`, "c failed"},
		{"an output", "step.a.output }", "step.b.output }", "c failed"},
		{"a question", "Ship ${", "Send ${", "ok changed; pause after; b after; c after"},
		{"another approver", `?"`, `?"
      approvers = ["ann"]`, "ok changed; pause after; b after; c after"},
		{"how long it waits", "10m", "11m", "pause changed; b after; c after"},
		{"a longer timeout", "20h", "30h", "c failed"},
		{"a timeout that the night does not count for", "20h", "1h", "c failed"},
		{"a timeout that is too short", "20h", "1s", "b changed; c after"},
		{"a program", `["b"]`, `["b", "-n"]`, "b changed; c after"},
		{"a new wait", `  output "n"`, `  step "d" {
    depends_on = [step.a]
    wait { duration = "1h" }
  }
  step "e" {
    depends_on = [step.d]
    run        = ["e"]
  }
  output "n"`, "c failed; d new; e after"},
	} {
		old := ran(t)
		p := load(t, strings.Replace(program, c.from, c.to, 1))
		got, err := reuse.Of(store(), old, p, *old.First, retry.Wish{})
		if err != nil {
			t.Fatal(err)
		}
		var again []string
		for _, a := range got.Again {
			again = append(again, a.Node+" "+string(a.Why))
		}
		if have := strings.Join(again, "; "); have != c.again {
			t.Errorf("%s: %s runs again, want %s\n%+v", c.name, have, c.again, got.Again)
		}
	}
}

func store() reuse.Store {
	return reuse.Store{
		Past:    func(string) (*reuse.Past, error) { return nil, errors.New("there is no such run") },
		Machine: func(p *ir.Program, workflow string) (replay.Machine, error) { return newMachine(p, workflow) },
	}
}

func newMachine(p *ir.Program, workflow string) (*machine.Machine, error) {
	g, err := plan.Build(p, workflow)
	if err != nil {
		return nil, err
	}
	return machine.New(g, expr.NewEvaluator(ir.NewestRules(), p.Files), ir.NewestRules()), nil
}

func load(t *testing.T, text string) *ir.Program {
	t.Helper()
	p, list := dsl.Load(fstest.MapFS{"w.hcl": {Data: []byte(text)}}, "w.hcl", dsl.Options{})
	for _, d := range list {
		if d.Severity == diag.Error {
			t.Fatal(d)
		}
	}
	return p.IR
}

// ran is a run of the program in which each attempt takes a minute, and c fails. While b runs, its driver dies, and the next one comes
// after ten hours.
func ran(t *testing.T) *reuse.Past {
	t.Helper()
	p := load(t, program)
	g, err := plan.Build(p, "w")
	if err != nil {
		t.Fatal(err)
	}
	m, err := newMachine(p, "w")
	if err != nil {
		t.Fatal(err)
	}
	first := &event.RunStarted{Run: "aaaaaaaaaaaa", Workflow: "w", Dir: "/"}
	out := &reuse.Past{Graph: g, First: first, View: view.New(g.Workflow), World: replay.NewWorld()}
	out.View.Forget()
	now, seq := event.Time(1e18), uint64(0)
	queue := []event.Event{{RunStarted: first}}
	for len(queue) > 0 {
		ev := queue[0]
		queue = queue[1:]
		seq++
		ev.Seq, ev.At = seq, now
		if err := m.Step(ev); err != nil {
			t.Fatal(err)
		}
		var r event.Reaction
		for m.Advance(100, &r) {
		}
		out.View.Apply([]event.Event{ev}, &r)
		out.World.Learn(ev, r.Commands)
		now = now.Add(time.Minute)
		for i := range r.Commands {
			switch c := &r.Commands[i]; {
			case c.Start != nil && c.Start.Node == "b" && ev.DriverChanged == nil:
				since := now
				now = now.Add(10 * time.Hour)
				queue = append(queue, event.Event{DriverChanged: &event.DriverChanged{Lost: true, Since: since}})
			case c.Start != nil:
				zero, f := 0, &event.AttemptFinished{Ticket: c.Start.Ticket, Node: c.Start.Node, Attempt: c.Start.Attempt, Outcome: event.OK, Stdout: "said\n"}
				if f.ExitCode = &zero; c.Start.Node == "c" {
					f.Outcome, f.Error = event.Failed, &event.Error{Kind: event.Blocking, Reason: event.ReasonExit, Message: "exit code 1", ExitCode: 1}
				}
				queue = append(queue, event.Event{AttemptFinished: f})
			case c.Ask != nil:
				d := event.Decision{Ask: c.Ask.Number, Shown: c.Ask.Shown, Word: event.WordApprove, By: "ann"}
				queue = append(queue, event.Event{External: &event.External{Kind: event.ExternalDecision, Node: c.Ask.Node, Data: d.Data()}})
			case c.SetTimer != nil && c.SetTimer.Purpose == event.TimerWait:
				now = c.SetTimer.Due
				queue = append(queue, event.Event{TimerFired: &event.TimerFired{Timer: c.SetTimer.Timer, Node: c.SetTimer.Node}})
			}
		}
	}
	if out.View.Status != event.FailedS {
		t.Fatalf("the run is %s", out.View.Status)
	}
	return out
}

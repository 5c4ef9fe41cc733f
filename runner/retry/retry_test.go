package retry_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cockroachdb/datadriven"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/retry"
	"github.com/flowrun/flowrun/runner/view"
)

// TestScripts runs testdata/*.txt: a program, a run of it, and runs that repeat the one before.
//
//	program               the workflow file that follows
//	run fail=(PATH,…)     all attempts succeed at once, but those of these paths; with skip=WORD the run is skipped
//	retry from=X only=X fail=(PATH,…) by=WHO   the run before is repeated; a line STEP = JSON sets a step
//
// A person who is asked about a node whose attempts have failed skips it. Below the rule stands what was reused, which attempts were made, in their order, and how the run ended.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		w := &world{}
		datadriven.RunTest(t, path, w.run)
	})
}

// world is the last run of a program.
type world struct {
	graph *plan.Graph
	runs  int
	first *event.RunStarted
	view  *view.Run
	fail  []string
	made  []string
}

func (w *world) run(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "program":
		p, list := dsl.Load(fstest.MapFS{"w.hcl": {Data: []byte(d.Input)}}, "w.hcl", dsl.Options{})
		for _, f := range list {
			if f.Severity == diag.Error {
				return f.Error()
			}
		}
		g, err := plan.Build(p.IR, p.IR.Workflows[0].Name)
		if err != nil {
			return err.Error()
		}
		*w = world{graph: g}
		return ""
	case "run":
		w.fail = words(d, "fail")
		return w.play(&event.RunStarted{Targets: words(d, "targets"), Skip: strings.Join(words(d, "skip"), " ")})
	case "retry":
		wish := retry.Wish{From: strings.Join(words(d, "from"), ""), Only: strings.Join(words(d, "only"), ""), By: strings.Join(words(d, "by"), "")}
		for _, line := range strings.Split(d.Input, "\n") {
			if step, text, ok := strings.Cut(line, " = "); ok {
				v, err := value.Decode([]byte(text))
				if err != nil {
					return err.Error()
				}
				wish.Set = append(wish.Set, retry.Set{Step: step, Output: v})
			}
		}
		before := w.first.Run
		p, err := retry.Of(w.graph, w.first, w.view, wish)
		var no *retry.Refusal
		if errors.As(err, &no) {
			advice := []string{"retry without a wish", "retry only that node", "retry from a node", "retry from a node, or start anew", "retry the whole run", "put the wish in another way", "start a run of the file", "see the type of"}
			return strings.TrimSpace(fmt.Sprintf("%s\nadvice: %s %s", no, advice[no.Advice], no.Node))
		}
		if err != nil {
			return err.Error()
		}
		w.fail = words(d, "fail")
		return w.play(&event.RunStarted{Targets: p.Targets, RetryOf: before, Reused: p.Reused})
	}
	return "no stanza " + d.Cmd
}

func words(d *datadriven.TestData, key string) []string {
	for _, a := range d.CmdArgs {
		if a.Key == key {
			return a.Vals
		}
	}
	return nil
}

// play is a host without time: it answers every attempt as soon as it is asked for.
func (w *world) play(first *event.RunStarted) string {
	w.runs++
	first.Run, first.Workflow = fmt.Sprintf("run%d", w.runs), w.graph.Workflow.Name
	w.first, w.view, w.made = first, view.New(w.graph.Workflow), nil
	w.view.Forget()
	m := machine.New(w.graph, expr.NewEvaluator(ir.NewestRules()), ir.NewestRules())
	queue := []event.Event{{RunStarted: first}}
	for seq := uint64(1); len(queue) > 0; seq++ {
		ev := queue[0]
		queue = queue[1:]
		ev.Seq, ev.At = seq, event.Time(seq*1e9)
		if err := m.Step(ev); err != nil {
			return err.Error()
		}
		var r event.Reaction
		for m.Advance(100, &r) {
		}
		w.view.Apply([]event.Event{ev}, &r)
		for i := range r.Commands {
			if answer := w.answer(&r.Commands[i]); answer != nil {
				queue = append(queue, *answer)
			}
		}
	}
	reused := slices.Sorted(maps.Keys(first.Reused))
	for i, path := range reused {
		if k := first.Reused[path]; k.Set {
			text, _ := json.Marshal(k.Output)
			reused[i] += fmt.Sprintf("=%s(%s)", text, k.By)
		}
	}
	said := ""
	for _, name := range value.Keys(w.view.Outputs) {
		text, _ := json.Marshal(w.view.Outputs[name])
		said += fmt.Sprintf("\n%s = %s", name, text)
	}
	return fmt.Sprintf("reused: %s\nmade:   %s\n%s: %s%s", strings.Join(reused, " "), strings.Join(w.made, " "), first.Run, w.view.Status, said)
}

func (w *world) answer(c *event.Command) *event.Event {
	switch {
	case c.Start != nil:
		a := c.Start
		f := &event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Gate: a.Gate, Compensate: a.Compensate, Outcome: event.OK}
		name := a.Node
		switch {
		case a.Compensate:
			name = "undo:" + name
		case a.Gate != "":
			name = "gate:" + name
		}
		w.made = append(w.made, name)
		if slices.Contains(w.fail, name) {
			f.Outcome = event.Failed
			f.Error = &event.Error{Kind: event.Recoverable, Reason: event.ReasonExit, Message: "exit code 1", ExitCode: 1}
		}
		return &event.Event{AttemptFinished: f}
	case c.StartChild != nil:
		w.made = append(w.made, "call:"+c.StartChild.Node)
		f := &event.ChildFinished{Run: c.StartChild.Run, Node: c.StartChild.Node, Status: event.Succeeded}
		if slices.Contains(w.fail, c.StartChild.Node) {
			f.Status = event.FailedS
		}
		return &event.Event{ChildFinished: f}
	case c.Ask != nil:
		v := event.Decision{Ask: c.Ask.Number, Shown: c.Ask.Shown, Word: event.WordSkip, By: "ann"}
		return &event.Event{External: &event.External{Kind: event.ExternalDecision, Node: c.Ask.Node, Data: v.Data()}}
	case c.SetTimer != nil && c.SetTimer.Purpose == event.TimerWait:
		return &event.Event{TimerFired: &event.TimerFired{Timer: c.SetTimer.Timer, Node: c.SetTimer.Node}}
	}
	return nil
}

// What is reused is one event of the new journal, so it has a bound.
func TestReusedIsBounded(t *testing.T) {
	w := &world{}
	p := "workflow \"w\" {\n  step \"a\" { run = [\"a\"] }\n  step \"b\" { run = [\"b\"] }\n}"
	w.run(t, &datadriven.TestData{Cmd: "program", Input: p})
	w.fail = []string{"b"}
	w.play(&event.RunStarted{})
	around := len(`{"a":{"status":"succeeded","output":"","attempts":1,"started_at":1000000000,"finished_at":2000000000}}`)
	for size, fits := range map[int]bool{retry.MaxReused - around: true, retry.MaxReused - around + 1: false} {
		w.view.Node("a").Result.Output = strings.Repeat("x", size)
		w.view.Node("a").Result.Stdout = ""
		_, err := retry.Of(w.graph, w.first, w.view, retry.Wish{})
		if (err == nil) != fits {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

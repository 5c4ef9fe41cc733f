package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
)

// held has artifacts in memory.
type held struct {
	parts map[string]*event.Parts
	loads int
}

func (h *held) Load(a *event.Artifact) (*event.Parts, error) {
	if h.loads++; h.parts[a.Hash] == nil {
		return nil, errors.New("it is missing")
	}
	return h.parts[a.Hash], nil
}

// take puts all parts of an answer beside the journal, whatever their size.
func (h *held) take(f *event.AttemptFinished) *event.AttemptFinished {
	if f.Stdout+f.Stderr == "" && f.Output == nil && f.Partial == nil {
		return f
	}
	short := *f
	p := &event.Parts{Stdout: f.Stdout, Stderr: f.Stderr, Output: f.Output, Partial: f.Partial}
	short.Stdout, short.Stderr, short.Output, short.Partial = "", "", nil, nil
	short.Artifact = &event.Artifact{Hash: fmt.Sprint("number ", len(h.parts)), Size: 1, From: h}
	h.parts[short.Artifact.Hash] = p
	return &short
}

// apart is a machine whose answers are all whole, and one whose answers all have their parts beside the journal. The second is written as bytes
// and read again after every event.
type apart struct {
	*machine.Machine
	long  *machine.Machine
	held  held
	graph *plan.Graph
	rules ir.Rules
	short int // how many results had parts beside the journal
}

func (a *apart) Step(ev event.Event) error {
	err := a.Machine.Step(ev)
	if f := ev.AttemptFinished; f != nil && err == nil {
		if ev.AttemptFinished, err = a.held.take(f).Whole(); err != nil {
			return err
		}
	}
	return errors.Join(err, a.long.Step(ev))
}

func (a *apart) Advance(budget int, out *event.Reaction) bool {
	var other event.Reaction
	before, commands := len(out.Transitions), len(out.Commands)
	more := a.Machine.Advance(budget, out)
	if a.long.Advance(budget, &other) != more || a.long.Broken() != nil {
		panic(fmt.Sprint("one machine has more to do: ", a.long.Broken()))
	}
	for i := range other.Transitions {
		if t := &other.Transitions[i]; t.Result != nil {
			w, err := t.Result.Whole()
			if err != nil {
				panic(err)
			}
			if w != t.Result {
				a.short++
			}
			t.Result = w
		}
	}
	if want := out.Transitions[before:]; len(want)+len(other.Transitions) > 0 && !reflect.DeepEqual(want, other.Transitions) {
		panic(fmt.Sprintf("whole answers show\n%+v\nothers\n%+v", want, other.Transitions))
	}
	if want := out.Commands[commands:]; len(want)+len(other.Commands) > 0 && !reflect.DeepEqual(want, other.Commands) {
		panic(fmt.Sprintf("after whole answers the machine wants\n%+v\nafter others\n%+v", want, other.Commands))
	}
	if more {
		return true
	}
	state, err := a.long.AppendState(nil, 0)
	if err != nil {
		panic(err)
	}
	if a.long, err = machine.Restore(a.graph, expr.NewEvaluator(a.rules), a.rules, state); err != nil {
		panic(err)
	}
	a.long.Bind(&a.held)
	if again, err := a.long.AppendState(nil, 0); err != nil || !bytes.Equal(state, again) {
		panic(fmt.Sprint("restored, it has other bytes ", err))
	}
	return false
}

// TestReactionsToLongAnswers replays the journals of all constructs, patterns and releases as if each part of each answer was too long for the
// journal. The reactions are those of the journal.
func TestReactionsToLongAnswers(t *testing.T) {
	short, loads := 0, 0
	storedJournals(t, func(name string, s *stored, g *plan.Graph) {
		fresh := func() *machine.Machine {
			return machine.New(g, expr.NewEvaluator(ir.RulesOf(s.header.Behaviour)), ir.RulesOf(s.header.Behaviour))
		}
		a := &apart{Machine: fresh(), long: fresh(), held: held{parts: map[string]*event.Parts{}}, graph: g, rules: ir.RulesOf(s.header.Behaviour)}
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("%s: %v", name, p)
			}
			short, loads = short+a.short, loads+a.held.loads
		}()
		f := engine.NewFold(s.header, a)
		var out event.Reaction
		for _, b := range s.batches {
			if _, err := f.Replay(b, &out); err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
		}
	})
	if t.Logf("%d results lay beside the journal, and parts were read %d times", short, loads); short < 300 {
		t.Error("too few to mean anything")
	}
}

// TestExpressionsOverLongOutputs: an expression reads a member of a list of long outputs without the others, and every form of access gives what
// it gives for whole outputs.
func TestExpressionsOverLongOutputs(t *testing.T) {
	const most = 60
	read := func(expr string) string {
		return fmt.Sprintf("  step \"r\" {\n    for_each = range(%d)\n    agent = agent.null\n    with = %s\n  }\n", most, expr)
	}
	for _, c := range []struct {
		src   string
		alone bool // the members are read alone
	}{
		{read("step.s.output[each.value]"), true},
		{read("[step.s.output[each.value], step.m.output[\"y\"], step.g.output.b]"), true},
		{read("step.s.instances[each.value].output"), true},
		{read("[step.s.output[59 - each.value], length(step.s.output), step.s.output[0]]"), false},
		{read("[for o in step.s.output : o]"), false},
		{read("try(step.s.output[each.value + 50], \"none\")"), false},
		{"  step \"r\" {\n    agent = agent.null\n    with = 1\n    output = object({ text = string })\n  }\n  step \"u\" {\n    agent = agent.null\n    with = [step.r.output]\n  }\n", false},
		{"  step \"r\" {\n    for_each = range(9)\n    agent = agent.null\n    with = each.value\n    join = \"len(result.output) == 9 and result.output[4] != nil\"\n  }\n", false},
		{read("[step.m.output, step.g.output, try(step.m.output[\"z\"], null)]"), false},
	} {
		p, list := dsl.Load(fstest.MapFS{"w.hcl": {Data: fmt.Appendf(nil, `
agent "null" {
  type = "null"
}

workflow "w" {
  step "s" {
    for_each = range(%d)
    agent    = agent.null
    with     = each.value
  }

  step "m" {
    for_each = { x = 1, y = 2 }
    agent    = agent.null
    with     = each.value
  }

  parallel "g" {
    step "a" {
      agent = agent.null
      with  = 1
    }

    step "b" {
      agent = agent.null
      with  = 2
    }
  }

%s
  output "all" {
    value = [step.s.output, step.r.output, step.g.output]
  }
}
`, most, c.src)}}, "w.hcl", dsl.Options{})
		if list.HasErrors() {
			t.Fatal(list)
		}
		g, err := plan.Build(p.IR, "w")
		if err != nil {
			t.Fatal(err)
		}
		fresh := func() *machine.Machine {
			return machine.New(g, expr.NewEvaluator(ir.NewestRules()), ir.NewestRules())
		}
		a := &apart{Machine: fresh(), long: fresh(), held: held{parts: map[string]*event.Parts{}}, graph: g, rules: ir.NewestRules()}
		f := engine.NewFold(journal.Header{Format: journal.Format, Run: "long", Workflow: "w"}, a)
		var out event.Reaction
		for queue := []event.Event{{RunStarted: &event.RunStarted{Run: "long", Workflow: "w", Dir: "/"}}}; len(queue) > 0 && f.End() == nil; {
			b, err := f.Feed(event.Time(time.Hour), queue[:1], &out)
			if err != nil {
				t.Fatal(err)
			}
			queue = queue[b.Count:]
			for _, c := range out.Commands {
				if a := c.Start; a != nil {
					queue = append(queue, event.Event{AttemptFinished: &event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Outcome: event.OK,
						Output: map[string]any{"text": a.Node, "with": a.Agent.With}}})
				}
			}
		}
		if f.End() == nil || f.End().Status != event.Succeeded {
			t.Errorf("%s: the run ends %+v", c.src, f.End())
		}
		if (a.held.loads < 20*most) != c.alone && strings.Contains(c.src, "step.s") {
			t.Errorf("%s: parts were read %d times", c.src, a.held.loads)
		}
	}
}

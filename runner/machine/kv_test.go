package machine_test

import (
	"fmt"
	"testing"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
)

// kvRun is a run of many kv operations at once.
type kvRun struct {
	t     *testing.T
	graph *plan.Graph
	rules ir.Rules
	m     *machine.Machine
	seq   uint64
	live  []*event.Attempt // in the order of their starts
	most  int
	end   *event.End
}

func newKVRun(t *testing.T, n int, rules ir.Rules) *kvRun {
	t.Helper()
	p, err := load(fmt.Sprintf("workflow \"w\" {\n  step \"s\" {\n    for_each = range(%d)\n    kv {\n      set   = \"k/${each.key}\"\n      value = 1\n    }\n  }\n  finally {\n    step \"last\" {\n      kv { get = \"k/0\" }\n    }\n  }\n}\n", n))
	if err != nil {
		t.Fatal(err)
	}
	g, err := plan.Build(p, "w")
	if err != nil {
		t.Fatal(err)
	}
	r := &kvRun{t: t, graph: g, rules: rules, m: machine.New(g, expr.NewEvaluator(rules), rules)}
	r.take(event.Event{RunStarted: &event.RunStarted{}})
	return r
}

func (r *kvRun) take(ev event.Event) {
	r.t.Helper()
	r.seq++
	ev.Seq, ev.At = r.seq, epoch
	if err := r.m.Step(ev); err != nil {
		r.t.Fatal(err)
	}
	var out event.Reaction
	for r.m.Advance(1<<20, &out) {
	}
	for _, c := range out.Commands {
		if c.Start != nil {
			r.live = append(r.live, c.Start)
		}
		if c.End != nil {
			r.end = c.End
		}
	}
	r.most = max(r.most, len(r.live))
}

// answer answers the attempt that began first.
func (r *kvRun) answer() {
	r.t.Helper()
	a := r.live[0]
	r.live = r.live[1:]
	r.take(event.Event{AttemptFinished: &event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, StartedAt: epoch, Outcome: event.OK}})
}

// Since behaviour number 2 at most 2,048 kv operations of a run are under way at once, and they start in order. Before, all of them start.
func TestKVOperationsAreBounded(t *testing.T) {
	const n = 2500
	for behaviour, most := range map[int]int{1: n, 2: 2048} {
		r := newKVRun(t, n, ir.RulesOf(behaviour))
		for i := range n {
			if want := fmt.Sprintf("s[%d]", i); r.live[0].Node != want {
				t.Fatalf("behaviour %d: %s is the next, want %s", behaviour, r.live[0].Node, want)
			}
			r.answer()
		}
		if len(r.live) != 1 || r.live[0].Node != "last" {
			t.Fatalf("behaviour %d: %d are under way at the end", behaviour, len(r.live))
		}
		if r.answer(); r.end == nil || r.end.Status != event.Succeeded || r.most != most {
			t.Errorf("behaviour %d: the end is %+v, and at most %d were under way, want %d", behaviour, r.end, r.most, most)
		}
	}
}

// Operations that wait for others end with the run that is cancelled, and take no room from its finally.
func TestWaitingKVOperationsAreCancelled(t *testing.T) {
	r := newKVRun(t, 2500, ir.NewestRules())
	r.answer()
	r.take(event.Event{External: &event.External{Kind: event.ExternalCancel}})
	for n := len(r.live); n > 0; n-- {
		if r.live[0].Node == "last" {
			t.Fatal("finally begins before the operations have ended")
		}
		r.answer()
	}
	if len(r.live) != 1 || r.live[0].Node != "last" {
		t.Fatalf("%d operations start after the cancel", len(r.live))
	}
	if r.answer(); r.end == nil || r.end.Status != event.Cancelled {
		t.Errorf("the end is %+v", r.end)
	}
}

// A machine whose kv operations wait is kept and restored: the next one starts as it would have.
func TestWaitingKVOperationsAreKept(t *testing.T) {
	r := newKVRun(t, 2050, ir.NewestRules())
	r.answer()
	state, err := r.m.AppendState(nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if r.m, err = machine.Restore(r.graph, expr.NewEvaluator(r.rules), r.rules, state); err != nil {
		t.Fatal(err)
	}
	r.answer()
	if r.answer(); len(r.live) != 2047 || r.live[2046].Node != "s[2049]" {
		t.Errorf("%d are under way, the last is %s", len(r.live), r.live[len(r.live)-1].Node)
	}
}

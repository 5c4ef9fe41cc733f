package machine

import (
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// oneStep is the graph of a workflow of one step.
func oneStep(t *testing.T, agents []ir.Agent, a ir.Action) *plan.Graph {
	t.Helper()
	g, err := plan.Build(&ir.Program{Agents: agents, Workflows: []ir.Workflow{{Name: "w", Nodes: []ir.Node{{Name: "s", Kind: ir.Step, Action: a}}}}}, "w")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A step that nothing describes is an error of the first event. It does not start an empty attempt.
func TestStepWithoutAnActionIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*ir.Node)
		want   string
	}{
		"no action":          {func(n *ir.Node) { n.Action = nil }, `step "s" has no action`},
		"a group that acts":  {func(n *ir.Node) { n.Kind = ir.Sequence }, `only steps have one`},
		"not in the package": {func(n *ir.Node) { n.Action = foreign{n.Action} }, `"ponder", which this release does not know`},
	} {
		g := oneStep(t, nil, &ir.Wait{})
		c.change(g.Nodes[0].Node)
		m := New(g, expr.NewEvaluator(ir.NewestRules()), ir.NewestRules())
		if err := m.Step(event.Event{Seq: 1, At: 1, RunStarted: &event.RunStarted{Run: "r"}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %s", name, err, c.want)
		}
		if _, err := plan.Build(g.Program, "w"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Build gives the error %v, want %s", name, err, c.want)
		}
	}
}

// foreign is an action of a kind that nobody knows.
type foreign struct{ ir.Action }

func (foreign) Kind() ir.ActionKind { return "ponder" }

// An attempt has a kind that executors know, and makes none that its action does not make.
func TestAttemptsHaveKinds(t *testing.T) {
	text := ir.Lit("x", value.StringType)
	for _, k := range ir.ActionKinds {
		if begins[k] == nil || compose.Composes(k) != makesAttempts(k) {
			t.Errorf("%s: begins %v, composes attempts %v; its course is %v", k, begins[k] != nil, compose.Composes(k), k.Course())
		}
	}
	steps := []ir.Action{&ir.Run{Argv: ir.Lit([]any{"x"}, value.AnyType)}, &ir.HTTP{URL: *ir.Lit("http://localhost", value.StringType)}, &ir.Remember{Text: text}, &ir.Recall{Query: *text},
		&ir.KV{Operation: ir.KVGet, Key: *text}, &ir.Notify{Text: *text}}
	var agents []ir.Agent
	for _, typ := range ir.AgentTypes {
		if typ == ir.AgentHuman { // an ask stands for the attempt
			continue
		}
		agents = append(agents, ir.Agent{Name: string(typ), Type: typ})
		steps = append(steps, &ir.AgentTask{Assignee: ir.Assignee{Agent: string(typ)}})
	}
	seen := map[event.AttemptKind]bool{}
	for _, a := range steps {
		m := New(oneStep(t, agents, a), expr.NewEvaluator(ir.NewestRules()), ir.NewestRules())
		if err := m.Step(event.Event{Seq: 1, At: 1, RunStarted: &event.RunStarted{Run: "r"}}); err != nil {
			t.Fatal(err)
		}
		var out event.Reaction
		for m.Advance(100, &out) {
		}
		if len(out.Commands) != 1 || out.Commands[0].Start == nil || !slices.Contains(event.AttemptKinds, out.Commands[0].Start.Kind) {
			t.Errorf("%s: the machine asks for %+v", a.Kind(), out.Commands)
			continue
		}
		seen[out.Commands[0].Start.Kind] = true
	}
	for _, k := range event.AttemptKinds {
		if !seen[k] && k != event.HoldAttempt && k != event.HumanAgentAttempt && k != event.SourceAttempt && k != event.WorktreeAttempt && k != event.BenchmarkAttempt { // groups, loops and gates make those
			t.Errorf("no step makes an attempt of kind %q", k)
		}
	}
}

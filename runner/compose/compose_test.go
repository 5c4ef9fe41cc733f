package compose_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

const program = `
variable "stage" { type = string }
locals { where = "to ${var.stage}" }
agent "writer" {
	type    = "exec"
	command = ["write"]
	timeout = "3m"
	env     = { WHO = "writer", STAGE = "agent" }
}
workflow "w" {
	input "n" { type = number }
	dir = "work"
	env = { RUN = run.id, STAGE = "workflow" }
	sequence "g" {
		dir = "inner"
		step "a" {
			agent = agent.writer
			task  = "ship ${input.n} ${local.where} (${attempt})"
			env   = { STEP = "a" }
		}
		step "b" {
			run      = ["echo", previous.status]
			pass_env = ["HOME"]
		}
	}
}`

var begun = &event.RunStarted{Run: "r", Workflow: "w", Dir: "/p", Vars: map[string]value.Value{"stage": "test"},
	Inputs: map[string]value.Value{"n": 3.0}}

func newComposer(t *testing.T, run *event.RunStarted) (*compose.Composer, *plan.Graph) {
	t.Helper()
	p, diags := dsl.Load(fstest.MapFS{"w.flow.hcl": {Data: []byte(program)}}, "w.flow.hcl", dsl.Options{})
	for _, d := range diags {
		if d.Severity == diag.Error {
			t.Fatal(d)
		}
	}
	g, err := plan.Build(p.IR, "w")
	if err != nil {
		t.Fatal(err)
	}
	return compose.New(g, expr.NewEvaluator(ir.NewestRules(), p.IR.Files), run), g
}

// state stands in for the machine: it counts two attempts and gives every attribute its own name.
type state struct{ compose.State }

func (state) Own() (compose.Own, bool) { return compose.Own{Attempts: 2}, true }
func (state) Read(_ compose.Which, _ int, attr string) value.Value {
	return attr
}

// An attempt inherits from its agent, its groups and its workflow, and needs no machine.
func TestAttemptIsComposedWithoutAMachine(t *testing.T) {
	c, g := newComposer(t, begun)
	n := &g.Nodes[g.Number("a")]
	sc := c.ScopeAt(state{}, g.Number("a"))
	a, fault := c.Attempt(&compose.Work{Node: n, Path: "g/a", Agent: n.Own.Agent, Attempt: 2, Feedback: "shorter", Scope: &sc})
	if fault != nil {
		t.Fatal(fault.Message)
	}
	if d := cmp.Diff(map[string]string{"RUN": "r", "STAGE": "agent", "STEP": "a", "WHO": "writer"}, a.Env); d != "" {
		t.Errorf("its env (-want +got):\n%s", d)
	}
	if a.Dir != "/p/inner" || a.Timeout.String() != "3m0s" || a.Agent.Task != "ship 3 to test (2)" || a.Agent.Feedback != "shorter" {
		t.Errorf("dir %q, timeout %s, task %q, feedback %q", a.Dir, a.Timeout, a.Agent.Task, a.Agent.Feedback)
	}
	n = &g.Nodes[g.Number("b")]
	sc = c.ScopeAt(state{}, g.Number("b"))
	b, fault := c.Attempt(&compose.Work{Node: n, Path: "g/b", Attempt: 1, Scope: &sc})
	if fault != nil {
		t.Fatal(fault.Message)
	}
	if d := cmp.Diff([]string{"echo", "status"}, b.Argv); d != "" || strings.Join(b.PassEnv, " ") != "HOME" {
		t.Errorf("its program (-want +got):\n%s; pass_env %q", d, b.PassEnv)
	}
}

// The work of another generation has another key. Another attempt at the same work has the same.
func TestKeysOfAttempts(t *testing.T) {
	c, g := newComposer(t, begun)
	key := func(w compose.Work) string {
		sc := c.ScopeAt(state{}, g.Number("a"))
		w.Node, w.Agent, w.Scope = &g.Nodes[g.Number("a")], g.Nodes[g.Number("a")].Own.Agent, &sc
		a, fault := c.Attempt(&w)
		if fault != nil {
			t.Fatal(fault.Message)
		}
		return a.Key
	}
	first := key(compose.Work{Path: "g/a", Attempt: 1})
	for name, other := range map[string]compose.Work{"another node": {Path: "g/x", Attempt: 1}, "another generation": {Path: "g/a", Attempt: 2, Generation: 1}} {
		if key(other) == first {
			t.Errorf("%s has the same key", name)
		}
	}
	if key(compose.Work{Path: "g/a", Attempt: 2}) != first {
		t.Error("the second attempt at the same work has another key")
	}
}

// Without a state the names of nodes are null. The values that a run begins with are known.
func TestScopeWithoutAState(t *testing.T) {
	c, _ := newComposer(t, begun)
	for ref, want := range map[ir.Ref]value.Value{
		{Root: "var", Name: "stage"}: "test", {Root: "input", Name: "n"}: 3.0, {Root: "local", Name: "where"}: "to test",
		{Root: "run", Name: "id"}: "r", {Root: "run", Name: "status"}: "running", {Root: "step", Name: "a", Attr: "output"}: nil,
		{Root: "previous", Name: "output"}: nil, {Root: "each", Name: "key"}: nil, {Root: "result", Name: "output"}: nil, {Root: "attempt"}: nil,
		{Root: "last", Name: "a", Attr: "output"}: nil, {Root: "iteration"}: nil, {Root: "total"}: nil, {Root: "error", Name: "kind"}: nil,
	} {
		got, err := c.Constants().Lookup(ref)
		if err != nil || !value.Equal(got, want) {
			t.Errorf("%s is %v (%v), want %v", ref, got, err, want)
		}
		if c.Constants().HasMembers(ref) {
			t.Errorf("%s has members", ref)
		}
	}
	if _, err := c.Constants().Lookup(ir.Ref{Root: "step", Name: "x"}); err == nil || !strings.Contains(err.Error(), `no node "x"`) {
		t.Errorf("a node that the graph does not have gives %v", err)
	}
}

// A value that is secret, or that the host computes, cannot be read.
func TestSecretsAreNotRead(t *testing.T) {
	c, _ := newComposer(t, &event.RunStarted{Run: "r", Secrets: map[string]event.Secret{"var.stage": {}}, Late: map[string]event.Late{"n": {}}})
	for _, r := range []ir.Ref{{Root: "var", Name: "stage"}, {Root: "input", Name: "n"}, {Root: "local", Name: "where"}} {
		if v, err := c.Constants().Lookup(r); err == nil || !strings.Contains(err.Error(), "is sensitive") {
			t.Errorf("%s is %v (%v)", r, v, err)
		}
	}
}

package ir

import (
	"testing"

	"github.com/flowrun/flowrun/dsl/value"
)

// sample uses every field once.
func sample() *Program {
	text := Lit("x", value.StringType)
	return &Program{
		Variables: []Variable{{Name: "v", Type: value.NumberType, HasDefault: true, Default: 0.0}},
		Locals:    []Local{{Name: "l", Expr: Expr{Kind: HCL, Text: "var.v + 1", Reads: []Ref{{Root: "var", Name: "v"}}, Type: value.NumberType}}},
		Agents:    []Agent{{Name: "a", Type: AgentExec, Command: Lit([]any{"agent"}, value.List(value.StringType)), PassEnv: []string{"HOME"}, Concurrency: Lit(2.0, value.NumberType)}},
		Gates:     []Gate{{Name: "g", Check: &Expr{Kind: Condition, Text: "true", Type: value.BoolType}, OnFail: "warn"}},
		Workflows: []Workflow{{Name: "w", Default: true, Nodes: []Node{
			{Name: "s", Kind: Step, Run: &Run{Script: text, Parse: ParseJSON}, Gates: []string{"g"}, Retry: &Retry{MaxAttempts: Lit(3.0, value.NumberType), Jitter: "full"}},
			{Name: "p", Kind: Parallel, Children: []Node{
				{Name: "t", Kind: Step, Needs: []string{"s"}, Agent: &AgentTask{Agent: "a", Task: text}, Output: &value.AnyType},
				{Name: "u", Kind: Step, Observes: []string{"s"}, Wait: &Wait{Duration: text}, ForEach: Lit([]any{false, nil, ""}, value.AnyType)},
			}},
		}, Outputs: []Output{{Name: "o", Expr: *text}}}},
	}
}

// A stored program must mean the same, and have the same hash, for ever: runs are pinned by it. If this hash changes, every
// run that is in flight is orphaned: give the field an omitempty, or raise the behaviour number and keep the old form.
func TestHashIsWhatItWas(t *testing.T) {
	const want = "f65e260edfb5bca0030503c177f21f63cfe74b8fbff1713d46bbbc9f275d9dd9"
	if got := sample().Hash(); got != want {
		t.Errorf("the hash of the sample is %s, it was %s", got, want)
	}
}

func TestStoredProgramsSurvive(t *testing.T) {
	p := sample()
	again, err := Load(p.Canonical())
	if err != nil {
		t.Fatal(err)
	}
	if again.Hash() != p.Hash() {
		t.Errorf("stored and loaded, the program is\n%s\nit was\n%s", again.Canonical(), p.Canonical())
	}
	items := again.Workflow("w").Nodes[1].Children[1].ForEach.Const.([]any)
	if items[0] != false || items[1] != nil || items[2] != "" {
		t.Errorf("false, null and the empty text came back as %v", items)
	}
	if v := again.Variables[0]; !v.HasDefault || v.Default != 0.0 {
		t.Errorf("the default 0 came back as %v", v.Default)
	}
}

func TestWorkflowByName(t *testing.T) {
	if p := sample(); p.Workflow("w") != &p.Workflows[0] || p.Workflow("x") != nil {
		t.Error("workflows are not found by their names")
	}
}

package ir

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
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
			{Name: "s", Kind: Step, Action: &Run{Script: text, Parse: ParseJSON}, Gates: []string{"g"}, Retry: &Retry{MaxAttempts: Lit(3.0, value.NumberType), Jitter: "full"}},
			{Name: "p", Kind: Parallel, Children: []Node{
				{Name: "t", Kind: Step, Needs: []string{"s"}, Action: &AgentTask{Assignee: Assignee{Agent: "a"}, Task: text}, Output: &value.AnyType},
				{Name: "u", Kind: Step, Observes: []string{"s"}, Action: &Wait{Duration: text}, ForEach: Lit([]any{false, nil, ""}, value.AnyType)},
			}},
		}, Outputs: []Output{{Name: "o", Expr: *text}}}},
	}
}

// A stored program must mean the same, and have the same hash, for ever: runs are pinned by it. If this hash changes, every
// run that is in flight is orphaned: give the field an omitempty, or raise the behaviour number and keep the old form.
func TestHashIsWhatItWas(t *testing.T) {
	const want = "cb0becf9ce4b383e84fac067f93cf1fe58a86839e25470946bb7c2fa335fb0ea"
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

// Every word of a closed list is read as it is written, and any other text is refused with the list.
func TestUnknownWordsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"workflows":[{"name":"w","nodes":[{"name":"a","kind":"stepp"}]}]}`:                                    `the node's kind "stepp" is not one of step, sequence, parallel, switch`,
		`{"workflows":[{"name":"w","nodes":[{"name":"a","kind":"step","on_error":"halt"}]}]}`:                   `on_error "halt" is not one of block, stop, continue`,
		`{"workflows":[{"name":"w","nodes":[{"name":"a","kind":"step","on_lost":"x"}]}]}`:                       `on_lost "x" is not one of retry, fail`,
		`{"workflows":[{"name":"w","nodes":[{"name":"a","kind":"step","losers":"x"}]}]}`:                        `losers "x" is not one of wait, cancel, detach`,
		`{"workflows":[{"name":"w","nodes":[{"name":"a","kind":"step","join":{"word":"most"}}]}]}`:              `the join "most" is not one of all, any, first_success`,
		`{"workflows":[{"name":"w","nodes":[{"name":"a","kind":"step","trigger_rule":"x"}]}]}`:                  `trigger_rule "x" is not one of none_failed, all_success, all_failed, all_done, one_success, one_failed, always`,
		`{"workflows":[{"name":"w","nodes":[{"name":"a","kind":"step","run":{"parse":"xml"}}]}]}`:               `parse "xml" is not one of text, json, lines, none`,
		`{"workflows":[{"name":"w","nodes":[{"name":"a","kind":"step","fail":{"kind":"x"}}]}]}`:                 `the error kind "x" is not one of transient, rate_limited, recoverable, blocking, fatal`,
		`{"workflows":[{"name":"w","nodes":[{"name":"a","kind":"step","end":{"status":"skipped"}}]}]}`:          `the end's status "skipped" is not one of succeeded, failed, cancelled`,
		`{"workflows":[{"name":"w","retry":{"jitter":"x"}}]}`:                                                   `the jitter "x" is not one of none, full, equal`,
		`{"workflows":[{"name":"w","concurrency":{"group":{"kind":"const","type":"string"},"when_busy":"x"}}]}`: `when_busy "x" is not one of queue, skip, cancel_previous`,
		`{"gates":[{"name":"g","on_fail":"x"}]}`:                                                                `on_fail "x" is not one of fail, retry, warn`,
		`{"agents":[{"name":"a","type":"x"}]}`:                                                                  `the agent's type "x" is not one of exec, shell, http, null`,
		`{"locals":[{"name":"l","expr":{"kind":"x","type":"string"}}]}`:                                         `the expression's kind "x" is not one of const, value, condition`,
	} {
		if _, err := Load([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngives the error %v, want %s", text, err, want)
		}
	}
	for kind := range ErrorKinds {
		p := Program{Workflows: []Workflow{{Name: "w", Nodes: []Node{{Name: "a", Kind: Step, Action: &Fail{ErrorKind: ErrorKinds[kind]}}}}}}
		if again, err := Load(p.Canonical()); err != nil || again.Hash() != p.Hash() {
			t.Errorf("%s: %v", ErrorKinds[kind], err)
		}
	}
}

// A step has one action that this release knows, and nothing else has one.
func TestActionsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"name":"a","kind":"step"}`:                                                       `step "a" has no action that this release knows`,
		`{"name":"a","kind":"step","ponder":{"to":"x"}}`:                                   `step "a" has no action that this release knows`,
		`{"name":"a","kind":"step","run":{},"wait":{}}`:                                    `step "a" has two actions: run and wait`,
		`{"name":"a","kind":"parallel","run":{}}`:                                          `node "a" of kind parallel has the action run; only steps have one`,
		`{"name":"a","kind":"parallel","children":[{"name":"b","kind":"step"}]}`:           `step "b" has no action`,
		`{"name":"a","kind":"parallel","children":[{"name":"b","kind":"step","fail":{}}]}`: ``,
	} {
		for _, around := range []string{`{"workflows":[{"name":"w","nodes":[%s]}]}`, `{"workflows":[{"name":"w","finally":{"nodes":[%s]}}]}`} {
			_, err := Load(fmt.Appendf(nil, around, text))
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s\ngives the error %v, want %s", text, err, want)
			}
		}
	}
}

// Every type that implements Action is stored under its kind, loaded as it was, and has a course.
func TestEveryActionIsStored(t *testing.T) {
	files, err := parser.ParseDir(token.NewFileSet(), ".", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	implemented := 0
	ast.Inspect(files["ir"], func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "action" {
			implemented++
		}
		return true
	})
	if implemented != len(ActionKinds) {
		t.Errorf("%d types implement Action, and the struct actions has %d members: give it a member for each", implemented, len(ActionKinds))
	}
	for _, k := range ActionKinds {
		text := fmt.Appendf(nil, `{"workflows":[{"name":"w","nodes":[{"name":"a","kind":"step","%s":{}}]}]}`, k)
		p, err := Load(text)
		if err != nil {
			t.Fatal(err)
		}
		a := p.Workflows[0].Nodes[0].Action
		if a.Kind() != k || k.Course() == 0 {
			t.Errorf("the member %q holds the action %T of kind %q with the course %d", k, a, a.Kind(), k.Course())
		}
		if again, err := Load(p.Canonical()); err != nil || again.Hash() != p.Hash() || again.Workflows[0].Nodes[0].Action.Kind() != k {
			t.Errorf("stored and loaded, %s is %s, %v", k, again.Canonical(), err)
		}
	}
}

// JSON of a node alone would lack its action.
func TestNodeAloneHasNoJSON(t *testing.T) {
	if text, err := json.Marshal(Node{Name: "a", Kind: Step}); err == nil {
		t.Errorf("a node is stored as %s", text)
	}
	if err := json.Unmarshal([]byte(`{"name":"a"}`), new(Node)); err == nil {
		t.Error("a node is loaded")
	}
}

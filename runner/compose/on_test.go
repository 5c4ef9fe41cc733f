package compose_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// A condition decides about data of any type: only an event that it does not refuse has data of the wrong type, and no data stop the evaluator.
func TestTriggeredByDataOfAnotherType(t *testing.T) {
	const start = `
workflow "w" {
	step "a" { value = 1 }
}
on "e" {
	workflow = workflow.w
	data     = object({ kind = string, n = number, list = list(number), more = map(string) })
	when     = %q
}`
	for _, c := range []struct {
		when, data, want string // want: start, skip, or a part of the error
	}{
		{"event.kind == 'push'", `{"kind": "push", "n": 1, "list": [], "more": {}}`, "start"},
		{"event.kind == 'push'", `{"kind": "ping", "n": 1, "list": [], "more": {}}`, "skip"},
		{"event.kind == 'push'", `{"kind": "ping"}`, "skip"},
		{"event.kind == 'push'", `{"kind": "push"}`, "not of the declared type"},
		{"event.kind == 'push'", `{"zen": "keep it"}`, "skip"},
		{"event.kind == 'push'", `null`, "skip"},
		{"event.kind == 'push'", `"text"`, "not of the declared type"},
		{"event.kind == 'push'", `[1]`, "not of the declared type"},
		{"event.n > 3", `{"n": {}}`, "not of the declared type"},
		{"event.n > 3", `{"n": "1"}`, "not of the declared type"},
		{"event.n > 3", `{"n": 1}`, "skip"},
		{"event.n + 1 > 3", `{}`, "not of the declared type"},
		{"any(event.list, # > 1)", `{"list": "many"}`, "not of the declared type"},
		{"any(event.list, # > 1)", `{"list": [1]}`, "skip"},
		{"event.more.a startsWith 'x'", `{"more": {"a": 7}}`, "not of the declared type"},
		{"event.more['a'] == 'x'", `{"more": {"a": 7}}`, "skip"},
		{"event.list[0] == 1", `{"kind": "k", "n": 1, "list": [], "more": {}}`, "when cannot be computed"},
	} {
		p, diags := dsl.Load(fstest.MapFS{"w.flow.hcl": {Data: fmt.Appendf(nil, start, c.when)}}, "w.flow.hcl", dsl.Options{})
		if p == nil || p.IR == nil {
			t.Fatal(c.when, diags)
		}
		g, err := plan.Build(p.IR, "w")
		if err != nil {
			t.Fatal(err)
		}
		data, err := value.Decode([]byte(c.data))
		if err != nil {
			t.Fatal(err)
		}
		_, fits, no := compose.New(g, expr.NewEvaluator(ir.NewestRules(), nil), &event.RunStarted{Workflow: "w"}).Triggered(&p.IR.Ons[0], data)
		got := "skip"
		switch {
		case no != nil:
			got = no.Error()
		case fits:
			got = "start"
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("when = %q, data %s: %s, want %s", c.when, c.data, got, c.want)
		}
	}
}

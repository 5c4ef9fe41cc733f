package dsl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
)

// reader is a workflow with every kind of result, and one node more.
const reader = `
variable "some" { default = false }
workflow "w" {
  step "plain" { run = ["true"] }
  step "typed" {
    run    = ["true"]
    parse  = "json"
    output = object({ words = number })
  }
  step "list" {
    for_each = ["a", "b"]
    run      = ["echo", each.value]
  }
  step "keyed" {
    for_each = { a = 1, b = 2 }
    value    = each.value
  }
  step "picky" {
    for_each = [1, 2]
    when     = "each.value > 1"
    value    = each.value
  }
  step "maybe" {
    for_each = [1, 2]
    when     = "var.some"
    value    = each.value
  }
  parallel "group" {
    for_each = ["a"]
    step "inner" { value = each.value }
  }
  %s
}
`

// What can be read of a result, what type it has, and whether who reads it needs the node or observes it.
func TestResults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"step.list.instances", "list, needs"},
		{"step.list.instances[0].stdout", "string, needs"},
		{"step.list.instances[0].output", "string, needs"},
		{"step.list.instances[0].instances", "null, needs"},
		{"step.list.instances[*].duration", "list, needs"},
		{"step.keyed.instances", "map, needs"},
		{"step.keyed.instances.a.output", "number, needs"},
		{"step.picky.instances[0].output", "number or null, needs"},
		{"step.picky.instances[0].status", "string, needs"},
		{"step.maybe.instances", "list or null, needs"},
		{"step.maybe.counts", "object, observes"},
		{"step.maybe.counts.failed > 0", "bool, observes"},
		{"step.group.instances[0].output.inner", "string, needs"},
		{"step.list.counts", "object, observes"},
		{"step.list.counts.failed + step.list.counts.total", "number, observes"},
		{"step.list.counts.skiped", "F0303"},
		{"step.plain.instances", "null, needs"},
		{"step.plain.counts", "null, observes"},
		{"step.plain.duration", "number, observes"},
		{"step.plain.winner", "F0304"},
		{"step.list.instances[0].winner", "null, needs"},
		{"step.plain.iterations", "F0304"},
		{"jsonencode(step.plain)", "string, needs"},
		{"step.typed.output.words", "number, needs"},
		{"run.id", "string, "},
		{"run.status", "F0304"},
		{"run.failed", "F0304"},
		{"run.error", "F0304"},
	} {
		p, list := Load(memory(fmt.Sprintf(reader, "step \"r\" { value = "+c.text+" }")), "w.hcl", Options{})
		got := ""
		if p.IR == nil {
			got = list[0].Code
		} else {
			n := p.IR.Workflows[0].Nodes[7]
			got = describe(n.Action.(*ir.Value).Expr) + ", "
			if len(n.Needs) > 0 {
				got += "needs"
			} else if len(n.Observes) > 0 {
				got += "observes"
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s\n%s", c.text, got, c.want, render(list, p.Sources))
		}
	}
}

// Outputs know how the run ended.
func TestOutputsReadTheRun(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"run.id", "string"},
		{"run.workflow", "string"},
		{"run.started_at", "string"},
		{"run.status", "string"},
		{"run.status == \"succeeded\"", "bool"},
		{"run.status == \"success\"", "F0315"},
		{"run.failed", "list"},
		{"join(\", \", run.failed)", "string"},
		{"run.error", "object or null"},
		{"run.error.message", "string or null"},
		{"run.error.mesage", "F0303"},
		{"run.errors", "F0303"},
		{"step.list.counts.succeeded", "number"},
		{"step.list.instances[*].output", "list"},
		{"step.maybe.counts.total", "number"},
	} {
		p, list := Load(memory(fmt.Sprintf(reader, "output \"o\" { value = "+c.text+" }")), "w.hcl", Options{})
		got := ""
		if len(list) > 0 {
			got = list[0].Code
		} else {
			got = describe(p.IR.Workflows[0].Outputs[0].Expr)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s\n%s", c.text, got, c.want, render(list, p.Sources))
		}
	}
}

func describe(e ir.Expr) string {
	s := string(e.Type.Kind)
	if s == "tuple" {
		s = "list"
	}
	if e.Type.Nullable && !strings.HasPrefix(s, "null") {
		s += " or null"
	}
	return s
}

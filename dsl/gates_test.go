package dsl

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A gate at the top means what it means for the steps that use it, and is stored once.
func TestGateOfSeveralTypes(t *testing.T) {
	for _, c := range []struct{ name, gate, steps, want string }{
		{"right for both", `"result.output.n >= 3"`, "{ n = 1 }|{ n = 2, m = 1 }", "result.output.n >= 3"},
		{"right for one", `"result.output.m >= 3"`, "{ n = 1 }|{ n = 2, m = 1 }", "F0303"},
		{"a name with a dash", `"result.output.line-count >= 3"`, "{ line-count = 1 }", `result.output["line-count"] >= 3`},
		{"a dash, and nothing known", `"result.output.line-count >= 3"`, "jsondecode(run.id)", "F0301"},
		{"whole result", `"len(result.output) > 0"`, "[1]|1", "F0306"},
		{"nothing of the output", `"result.attempts < 3"`, "[1]|1", "result.attempts < 3"},
	} {
		var b strings.Builder
		fmt.Fprintf(&b, "gate \"g\" { check = %s }\nworkflow \"w\" {\n", c.gate)
		for i, v := range strings.Split(c.steps, "|") {
			fmt.Fprintf(&b, "  step \"s%d\" {\n    value = %s\n    gates = [gate.g]\n  }\n", i, v)
		}
		p, list := Load(memory(b.String()+"}\n"), "w.hcl", Options{})
		got := ""
		if p.IR == nil {
			got = list[0].Code
		} else {
			got = p.IR.Gates[0].Check.Text
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s\n%s", c.name, got, c.want, render(list, p.Sources))
		}
	}
}

// A long gate that many steps with outputs of many types use costs no more than a bound, beyond which it is refused.
func TestGateOfManyTypes(t *testing.T) {
	program := func(bytes, types int) string {
		var b strings.Builder
		fmt.Fprintf(&b, "gate \"g\" { check = \"result.output.a >= 3%s\" }\nworkflow \"w\" {\n", strings.Repeat(" ", bytes))
		for i := range types {
			fmt.Fprintf(&b, "  step \"s%d\" {\n    value = { a = 1, b%d = 1 }\n    gates = [gate.g]\n  }\n", i, i)
		}
		return b.String() + "}\n"
	}
	if p, list := Load(memory(program(4000, 4000)), "w.hcl", Options{}); p.IR == nil {
		t.Fatal(render(list, p.Sources))
	}
	start := cpu(t)
	p, list := Load(memory(program(4000, 5000)), "w.hcl", Options{})
	if p.IR != nil || len(list) != 1 || list[0].Code != "F0230" {
		t.Fatal(render(list, p.Sources))
	}
	if took := cpu(t) - start; took > 20*time.Second {
		t.Error(took)
	} else {
		t.Log(took)
	}
}

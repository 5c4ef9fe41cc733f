package dsl

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// nothing is a scope in which everything is null.
type nothing struct{}

func (nothing) Lookup(ir.Ref) (value.Value, error) { return nil, nil }

// What is advised for a value that can be null is accepted when it is written, and has a value when the other is null.
func TestAdviceAboutNull(t *testing.T) {
	advised := regexp.MustCompile(`try\(input\.x, [^)]*\)`)
	for _, c := range []struct{ typ, value string }{
		{"string", `"a${input.x}"`}, {"string", "upper(input.x)"}, {"number", "input.x + 1"}, {"bool", "!input.x"}, {"bool", "input.x ? 1 : 2"},
		{"list(string)", "length(input.x)"}, {"map(string)", "keys(input.x)"}, {"string", "RUN"},
	} {
		program := func(value string) fstest.MapFS {
			attr := "value = " + value
			if c.value == "RUN" {
				attr = `run = "echo ${` + value + `}"`
			}
			return fstest.MapFS{"x.hcl": {Data: fmt.Appendf(nil, "workflow \"w\" {\n  input \"x\" {\n    type    = %s\n    default = null\n  }\n  step \"a\" { %s }\n}\n", c.typ, attr)}}
		}
		bad := strings.Replace(c.value, "RUN", "input.x", 1)
		_, list := Load(program(bad), "x.hcl", Options{})
		if len(list) != 1 || list[0].Code != "F0307" {
			t.Errorf("%s: %v", c.value, list)
			continue
		}
		advice := advised.FindString(list[0].Detail)
		p, list := Load(program(strings.Replace(bad, "input.x", advice, 1)), "x.hcl", Options{})
		if advice == "" || list.HasErrors() {
			t.Errorf("%s: the advice %q is refused: %v", c.value, advice, list)
			continue
		}
		n := p.IR.Workflows[0].Nodes[0]
		var e *ir.Expr
		switch a := n.Action.(type) {
		case *ir.Value:
			e = &a.Expr
		case *ir.Run:
			e = &a.Values[0]
		}
		if v, err := expr.NewEvaluator(ir.NewestRules()).Eval(e, nothing{}); err != nil || v == nil {
			t.Errorf("%s: the advice %q gives %v, %v where input.x is null", c.value, advice, v, err)
		}
	}
}

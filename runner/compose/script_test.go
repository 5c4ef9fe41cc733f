package compose

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// A value in a script has limits.MaxScriptValue bytes at most. The message names it, and the way out.
func TestValuesOfScripts(t *testing.T) {
	c := &Composer{eval: constants{}}
	for n, fits := range map[int]bool{limits.MaxScriptValue: true, limits.MaxScriptValue + 1: false} {
		a := &event.Attempt{}
		err := c.composeScript(a, "run", ir.Lit("", value.StringType), []ir.Expr{{Kind: ir.HCL, Text: "input.log", Const: strings.Repeat("x", n)}}, nil)
		if fits && (err != nil || len(a.Values) != 1 || len(a.Values[0]) != n) {
			t.Errorf("%d bytes: %v", n, err)
		}
		if !fits && (err == nil || !strings.Contains(err.Error(), "${input.log}: it has 102401 bytes") || !strings.Contains(err.Error(), "stdin")) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// constants evaluates to what stands in Const.
type constants struct{}

func (constants) Eval(e *ir.Expr, _ ir.Scope) (value.Value, error) { return e.Const, nil }
func (constants) Conforms(_, _ value.Value) error                  { return nil }
func (constants) Readings(*ir.Expr, ir.Scope) string               { return "" }

package machine

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// A value in a script has MaxScriptValue bytes at most. The message names it, and the way out.
func TestValuesOfScripts(t *testing.T) {
	m := &Machine{eval: constants{}}
	for n, fits := range map[int]bool{MaxScriptValue: true, MaxScriptValue + 1: false} {
		out, err := m.values([]ir.Expr{{Kind: ir.HCL, Text: "input.log", Const: strings.Repeat("x", n)}}, nil)
		if fits && (err != nil || len(out) != 1 || len(out[0]) != n) {
			t.Errorf("%d bytes: %v", n, err)
		}
		if !fits && (err == nil || !strings.Contains(err.Error(), "${input.log} has 102401 bytes") || !strings.Contains(err.Error(), "stdin")) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// constants evaluates to what stands in Const.
type constants struct{}

func (constants) Eval(e *ir.Expr, _ ir.Scope) (value.Value, error) { return e.Const, nil }
func (constants) Conforms(_, _ value.Value) error                  { return nil }

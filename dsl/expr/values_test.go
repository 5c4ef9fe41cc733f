package expr

import (
	"fmt"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// names is a scope of var.NAME.
type varNames map[string]value.Value

func (n varNames) Lookup(r ir.Ref) (value.Value, error) { return n[r.Name], nil }

// The names of a condition have their whole values, and the operands of && that do not hold are told.
func TestValuesAndUnmet(t *testing.T) {
	ev := NewEvaluator(ir.NewestRules())
	scope := varNames{"a": 1.0, "b": []any{1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, "c": nil}
	for text, want := range map[string]string{
		"var.a > 0 && var.b[0] == 2":                  "[{var.a 1} {var.b[0] 1}] [var.b[0] == 2]",
		"var.a > 3":                                   "[{var.a 1}] []",
		"var.a == 1 && (var.c.x > 2 || var.a == 2)":   "[{var.a 1} {var.c.x <nil>}] [var.c.x > 2 || var.a == 2]",
		"var.b == [] && var.a in [2, 3] && var.a > 0": "[{var.b [1 2 3 4 5 6]} {var.a 1}] [var.b == [] var.a in [2, 3]]",
		"len(var.b) == 6 && var.a == 2 && var.a > 5":  "[{var.b [1 2 3 4 5 6]} {var.a 1}] [var.a == 2 var.a > 5]",
	} {
		e := &ir.Expr{Kind: ir.Condition, Text: text, Reads: []ir.Ref{{Root: "var", Name: "a"}}}
		if got := fmt.Sprint(ev.Values(e, scope), ev.Unmet(e, scope)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

package dsl

import (
	"testing"

	"github.com/flowrun/flowrun/dsl/expr"
)

// What is asked is one expression, whatever stands in it: neither brackets nor the word that ends a text around it lets it out.
func TestAskTakesOneExpression(t *testing.T) {
	for _, c := range []struct {
		text      string
		condition bool
		ok        bool
	}{
		{"1 + 2", false, true},
		{"(1) + (2)", false, true},
		{"1) + (2", false, false},
		{"1)\nw = (2", false, false},
		{"1 == 1", true, true},
		{"1 == 1 and\n\"END\" == \"END\"", true, true},
		{"1 == 1\nEND\nw = <<END\n1 == 1", true, false},
		{"1 == 1\nEND_\nw = 2", true, false},
	} {
		if e, _ := Ask("expression", c.text, c.condition, &expr.Env{}); (e != nil) != c.ok {
			t.Errorf("%q as a condition (%t): taken is %t", c.text, c.condition, e != nil)
		}
	}
}

package expr

import (
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// A rule that holds from number 2 on changes the meaning of one function, for runs of that number only, in both languages.
func TestARuleChangesAMeaning(t *testing.T) {
	const planted ir.Rule = "planted"
	define(&function{name: "planted", call: func(r *run, _ []value.Value) (value.Value, error) {
		if r.rules[planted] {
			return "new", nil
		}
		return "old", nil
	}})
	t.Cleanup(func() { delete(functions, "planted") })
	for number, rules := range map[int]ir.Rules{1: ir.RulesOf(1), 2: {planted: true}} {
		ev := NewEvaluator(rules)
		want := map[int]string{1: "old", 2: "new"}[number]
		if v, err := ev.Eval(&ir.Expr{Kind: ir.HCL, Text: "upper(planted())"}, nil); err != nil || v != map[string]string{"old": "OLD", "new": "NEW"}[want] {
			t.Errorf("number %d: the value is %v, %v", number, v, err)
		}
		if v, err := ev.Eval(&ir.Expr{Kind: ir.Condition, Text: "planted() == '" + want + "'"}, nil); err != nil || v != true {
			t.Errorf("number %d: the condition is %v, %v", number, v, err)
		}
	}
}

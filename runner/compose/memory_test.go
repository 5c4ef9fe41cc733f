package compose

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
)

// A value at its bound is remembered, and a larger one is not.
func TestBoundsOfMemory(t *testing.T) {
	c := &Composer{eval: constants{}}
	lit := func(v value.Value) *ir.Expr { return ir.Lit(v, value.AnyType) }
	tags := func(n int) *ir.Expr {
		list := make([]any, n)
		for i := range list {
			list[i] = "t"
		}
		return lit(list)
	}
	for name, b := range map[string]struct{ at, beyond ir.Remember }{
		"text":       {ir.Remember{Text: lit(strings.Repeat("x", limits.MaxRemembered))}, ir.Remember{Text: lit(strings.Repeat("x", limits.MaxRemembered+1))}},
		"lesson":     {ir.Remember{Lesson: lit(strings.Repeat("x", limits.MaxRemembered))}, ir.Remember{Lesson: lit(strings.Repeat("x", limits.MaxRemembered+1))}},
		"tags":       {ir.Remember{Tags: tags(limits.MaxTags)}, ir.Remember{Tags: tags(limits.MaxTags + 1)}},
		"a tag":      {ir.Remember{Tags: lit([]any{"x"})}, ir.Remember{Tags: lit([]any{""})}},
		"importance": {ir.Remember{Importance: lit(1.0)}, ir.Remember{Importance: lit(1.01)}},
		"least":      {ir.Remember{Importance: lit(0.0)}, ir.Remember{Importance: lit(-0.01)}},
	} {
		if _, place, err := c.composeRemember(&b.at, nil); err != nil {
			t.Errorf("%s at its bound: %s: %v", name, place, err)
		}
		if _, _, err := c.composeRemember(&b.beyond, nil); err == nil {
			t.Errorf("%s beyond its bound is taken", name)
		}
	}
	for name, b := range map[string]struct{ at, beyond ir.Recall }{
		"k":      {ir.Recall{Query: *lit("x"), K: lit(float64(limits.MaxRecalled))}, ir.Recall{Query: *lit("x"), K: lit(float64(limits.MaxRecalled + 1))}},
		"budget": {ir.Recall{Query: *lit("x"), Budget: lit(float64(limits.MaxRecallBudget))}, ir.Recall{Query: *lit("x"), Budget: lit(float64(limits.MaxRecallBudget + 1))}},
	} {
		if _, place, err := c.composeRecall(&b.at, nil); err != nil {
			t.Errorf("%s at its bound: %s: %v", name, place, err)
		}
		if _, _, err := c.composeRecall(&b.beyond, nil); err == nil {
			t.Errorf("%s beyond its bound is taken", name)
		}
	}
}

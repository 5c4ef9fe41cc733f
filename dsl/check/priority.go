package check

import (
	"fmt"
	"math"
	"slices"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/value"
)

// priority checks a node's priority, and priorityOf that of a block: a whole number, or a word for one. A word that is written out becomes its number.
func (c *checker) priority(n *Node) { c.priorityOf(n.Block) }

func (c *checker) priorityOf(n *Block) {
	a := n.attr("priority")
	if a == nil || a.Expr == nil {
		return
	}
	words := priorityWords()
	d := diag.Diagnostic{Code: "F0273", Subject: a.span(), Context: n.Words(),
		Detail: fmt.Sprintf("It is one of %s, or a whole number from %d to %d.", quoted(words), -limits.MaxPriority, limits.MaxPriority)}
	switch v := a.Expr.Const.(type) {
	case string:
		number, known := schema.Priorities[v]
		if known {
			a.Expr = ir.Lit(number, value.IntType)
			return
		}
		d.Summary = fmt.Sprintf("%.60q is not a priority", v)
		if near := diag.Nearest(v, words); near != "" {
			d.Detail += fmt.Sprintf(" Did you mean %q?", near)
			d.Edit = &diag.Edit{Range: d.Subject, Text: fmt.Sprintf("%q", near)}
		}
	case float64:
		if v == math.Trunc(v) {
			return
		}
		d.Summary = "A priority is a whole number"
	default:
		if k := a.Expr.Type.Kind; a.Expr.Type.IsAny() || a.Expr.Kind != ir.Const && (k == value.StringT || k == value.NumberT) {
			return
		}
		d.Summary = fmt.Sprintf("A priority cannot be a %s", kindWord(a.Expr.Type))
	}
	c.report(d)
}

// priorityWords are the words in order of what they stand for.
func priorityWords() []string {
	words := make([]string, 0, len(schema.Priorities))
	for w := range schema.Priorities { // any order: they are sorted next
		words = append(words, w)
	}
	slices.SortFunc(words, func(a, b string) int { return int(schema.Priorities[a] - schema.Priorities[b]) })
	return words
}

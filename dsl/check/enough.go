package check

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// MaxJoinTried bounds how many nodes or instances a join may have for its condition to be tried with every way in which
// they can end: there are 455 ways for 12.
const MaxJoinTried = 12

// enough looks for a join that cannot be met, whatever becomes of what it joins.
func (c *checker) enough(n *Node) {
	a := n.attr("join")
	if a == nil || a.Expr == nil {
		return
	}
	total, what := n.joins()
	if total < 0 {
		return
	}
	d := diag.Diagnostic{Code: "F0263", Subject: a.span(), Context: n.Words(), Summary: fmt.Sprintf("This join of %d %s can never be satisfied", total, what)}
	switch want := a.Expr.Const.(type) {
	case float64:
		if int(want) <= total {
			return
		}
		d.Detail = fmt.Sprintf("It needs %s to succeed, and at most %d can.", value.Text(want), total)
	default:
		if a.Expr.Kind != ir.Condition || total > MaxJoinTried || canHold(a.Expr, total) {
			return
		}
		d.Detail = "The condition is false for every possible result. succeeded, failed and skipped count up to total; done is their sum."
	}
	c.report(d)
}

// joins is how many nodes or instances a node joins, in what words, or -1 where the run tells.
func (n *Node) joins() (int, string) {
	if n.attr("for_each") == nil {
		return len(n.Children), "nodes"
	}
	e := n.Expr("for_each")
	if e == nil {
		return -1, ""
	}
	if list, ok := e.Const.([]any); ok {
		return len(list), "instances"
	}
	if m, ok := e.Const.(map[string]any); ok {
		return len(m), "instances"
	}
	if e.Type.Kind == value.TupleT && !e.Type.Nullable {
		return len(e.Type.Elems), "instances"
	}
	return -1, ""
}

// canHold tries a join's condition with all counts that there can be. One that reads more than counts is not tried.
func canHold(e *ir.Expr, total int) bool {
	for _, r := range e.Reads {
		if !contains(counts, r.Root) {
			return true
		}
	}
	ev := expr.NewEvaluator(ir.NewestRules())
	for s := 0; s <= total; s++ {
		for f := 0; s+f <= total; f++ {
			for k := 0; s+f+k <= total; k++ {
				if v, err := ev.Eval(e, tally{float64(total), float64(s), float64(f), float64(k)}); err == nil && v == true {
					return true
				}
			}
		}
	}
	return false
}

// tally is the scope of a join's condition.
type tally struct{ total, succeeded, failed, skipped float64 }

// Lookup implements ir.Scope.
func (t tally) Lookup(r ir.Ref) (value.Value, error) {
	switch r.Root {
	case "total":
		return t.total, nil
	case "succeeded":
		return t.succeeded, nil
	case "failed":
		return t.failed, nil
	case "skipped":
		return t.skipped, nil
	}
	return t.succeeded + t.failed + t.skipped, nil
}

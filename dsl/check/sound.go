package check

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/value"
)

// sound looks for what means something and can never happen: steps that never run, conditions that are decided before
// they are asked, joins that cannot be met, outputs that are always null.
func (c *checker) sound(w *Workflow) {
	for _, n := range w.All {
		c.condition(w, n)
		c.reached(w, n)
		c.enough(n)
		c.recallsNothing(n)
	}
	for _, o := range w.Outputs {
		if e := o.Expr("value"); e != nil && e.Type.Kind == value.Null {
			c.report(diag.Diagnostic{Severity: diag.Warning, Code: "F0268", Subject: o.attr("value").span(), Context: o.Words(), Summary: fmt.Sprintf("Output %q is always null", o.Name),
				Detail: "The nodes that it reads have no output: wait, fail, end, and run with parse = \"none\" return nothing. Read another node, or remove the output."})
		}
	}
}

// condition looks for a condition that is decided: it reads nothing, or asks for a status that the rule of its node, by
// which it is asked at all, leaves no choice of.
func (c *checker) condition(w *Workflow, n *Node) {
	a := n.attr("when")
	if a == nil || a.Expr == nil {
		return
	}
	if len(a.Expr.Reads) == 0 {
		if v, ok := expr.Fixed(a.Expr, nil, &c.work); ok && v == false {
			c.never(n, a.span(), "its condition is false", "Remove the condition, or the node.")
		}
		return
	}
	asks := false
	for _, r := range a.Expr.Reads {
		asks = asks || r.Root == "step" && r.Attr == "status" && contains(n.Needs, r.Name)
	}
	if !asks {
		return
	}
	about := ""
	holds, known := expr.Decided(a.Expr, func(r ir.Ref) []string {
		if r.Root != "step" || !contains(n.Needs, r.Name) {
			return nil
		}
		can := n.leaves(w.ByName[r.Name])
		if can != nil {
			about = r.Name
		}
		return can
	})
	if !known {
		return
	}
	always := map[bool]string{true: "always", false: "never"}[holds]
	d := diag.Diagnostic{Severity: diag.Warning, Code: "F0267", Subject: a.span(), Context: n.Words(), Summary: fmt.Sprintf("This condition %s holds", always)}
	rule := n.Text("trigger_rule")
	if rule == "" {
		rule = "none_failed"
	}
	d.Detail = fmt.Sprintf("It is evaluated when %q lets the node start, and then step.%s.status is %s. ", rule, about, schema.Either(n.leaves(w.ByName[about])))
	if holds {
		d.Detail += "Take it out."
	} else {
		d.Detail += fmt.Sprintf("To start after other results, read only the status of %s, and neither its output nor depends_on; or use another trigger_rule.", about)
	}
	c.report(d)
}

// leaves are the statuses that a node which n needs can have when n's condition is asked, or nil where n's rule says nothing.
func (n *Node) leaves(x *Node) []string {
	tolerated := x.tolerated() || x.Inner("degrade") != nil
	var out []string
	switch n.Text("trigger_rule") {
	case "", "none_failed":
		out = []string{"succeeded"}
		if x.skippable(n) {
			out = append(out, "skipped")
		}
	case "all_success":
		out = []string{"succeeded"}
	case "all_failed":
		return []string{"failed", "blocked", "cancelled"}
	default:
		return nil
	}
	if tolerated {
		out = append(out, "failed")
	}
	return out
}

// reached looks for a node that can never start because of what stands before it.
func (c *checker) reached(w *Workflow, n *Node) {
	rule := n.Text("trigger_rule")
	switch rule {
	case "", "none_failed", "all_success":
		for _, name := range n.Needs {
			if x := w.ByName[name]; x.alwaysFails() && !x.skippable(n) {
				c.never(n, nameRange(n.Block), fmt.Sprintf("it needs %s, which always fails", x.Words()), fmt.Sprintf("Read only step.%s.status, or give %s a condition.", x.Name, x.Words()))
				return
			}
		}
	case "one_success", "one_failed":
		if len(n.Needs)+len(n.Observes) == 0 {
			a := n.attr("trigger_rule")
			c.never(n, a.span(), fmt.Sprintf("%s has no dependencies to wait for", rule), "Name its dependencies in depends_on.")
			return
		}
	}
	if b := n.Before; b != nil && !n.lenient() && b.attr("when") == nil && b.attr("for_each") == nil && !b.lenient() {
		switch {
		case b.Inner("end") != nil:
			c.never(n, nameRange(n.Block), fmt.Sprintf("%s before it ends the run", b.Words()), fmt.Sprintf("Give %s a condition, or remove the nodes after it.", b.Words()))
		case b.alwaysFails():
			c.never(n, nameRange(n.Block), fmt.Sprintf("%s before it always fails", b.Words()), fmt.Sprintf("Give %s a condition, or remove the nodes after it.", b.Words()))
		}
	}
}

// alwaysFails tells whether the node fails whenever it runs, and nobody tolerates that.
func (n *Node) alwaysFails() bool {
	return n.Inner("fail") != nil && !n.tolerated() && n.Inner("degrade") == nil && n.attr("for_each") == nil
}

func (c *checker) never(n *Node, at diag.Range, why, fix string) {
	c.report(diag.Diagnostic{Severity: diag.Warning, Code: "F0262", Subject: at, Context: n.Words(), Summary: fmt.Sprintf("%s never runs: %s", upper(n.Words()), why), Detail: fix})
}

package check

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/value"
)

// last is the root of what the nodes inside a repeat were in the iteration before. In the first there is none, so all of
// it may be null. A step that repeats itself can read itself so.
func (w *Workflow) last(round *Node) *expr.Root {
	if r := w.rounds[round]; r != nil {
		return r
	}
	r := &expr.Root{What: "step", Names: map[string]value.Type{}, Hidden: map[string]string{}, Absent: absentAttrs, Decl: w.roots["step"].Decl}
	inner := w.All[round.index+1:] // parents stand before children, in file order
	for i, n := range inner {
		if !round.holds(n) {
			inner = inner[:i]
			break
		}
	}
	if round.Schema.Kind == "step" {
		inner = []*Node{round}
	}
	for _, n := range inner {
		if w.ByName[n.Name] != n {
			continue
		}
		if of := n.region(); of != nil && of != round && round.holds(of) {
			r.Hidden[n.Name] = fmt.Sprintf("It exists several times in each iteration, and is available only inside %s. Read the group instead: last.step.%s.", of.Words(), of.Name)
			continue
		}
		t := anyResult
		if n.output.Kind != "" {
			t = w.resultFor(n, round)
		}
		r.Names[n.Name] = nothingYet(t)
	}
	w.rounds[round] = r
	return r
}

// nothingYet is a result type all of which may be null.
func nothingYet(t value.Type) value.Type {
	attrs := make(map[string]value.Type, len(t.Attrs))
	for name, a := range t.Attrs { // any order: it fills an object
		attrs[name] = a.OrLeft()
	}
	return value.Object(attrs)
}

package expr

import (
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// MaxValues bounds how many names [Evaluator.Values] gives.
const MaxValues = 20

// Reading is a name that an expression reads, as it is written, with its value.
type Reading struct {
	Name  string
	Value value.Value
}

// Values gives the names that an expression reads, each once, in the order in which they stand, with their whole values. A name that
// cannot be read is left out.
func (ev *Evaluator) Values(e *ir.Expr, s ir.Scope) (out []Reading) {
	if e.Kind == ir.Const || len(e.Reads) == 0 {
		return nil
	}
	t, err := ev.tree(e)
	if err != nil {
		return nil
	}
	told := map[string]bool{}
	r := &run{scope: s, files: ev.files, rules: ev.rules, slots: make([]value.Value, t.slots)}
	t.names(t.root, func(n node) bool {
		at := n.at()
		if _, is := n.(*index); is && at.end < len(t.text) && t.text[at.end] == ']' {
			at.end++
		}
		name := t.part(at)
		if told[name] {
			return true
		}
		told[name] = true
		if v, err := r.eval(n); err == nil {
			out = append(out, Reading{name, v})
		}
		return len(out) < MaxValues
	})
	return out
}

// Unmet gives those of the operands of && at the top of a condition that do not hold, or cannot be computed, as they are written; nil where
// && does not stand at the top.
func (ev *Evaluator) Unmet(e *ir.Expr, s ir.Scope) (out []string) {
	if e.Kind != ir.Condition {
		return nil
	}
	t, err := ev.tree(e)
	if err != nil {
		return nil
	}
	var operands []node
	var split func(n node)
	split = func(n node) {
		if b, is := n.(*binary); is && b.op == "&&" {
			split(b.l)
			split(b.r)
			return
		}
		operands = append(operands, n)
	}
	if split(t.root); len(operands) < 2 {
		return nil
	}
	for _, n := range operands {
		r := &run{scope: s, files: ev.files, rules: ev.rules, slots: make([]value.Value, t.slots)}
		if holds, err := r.truth(n); err != nil || !holds {
			out = append(out, t.part(n.at()))
		}
	}
	return out
}

package expr

import (
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
)

// Decided says what a condition comes to if that is known before the run: possible gives the statuses that a node can have
// where the condition is asked, or nil where nothing is known. A part that it does not understand is unknown.
func Decided(e *ir.Expr, possible func(ir.Ref) []string) (holds, known bool) {
	t, err := parse(e)
	if err != nil {
		return false, false
	}
	return decide(t.root, possible)
}

func decide(n node, possible func(ir.Ref) []string) (holds, known bool) {
	switch n := n.(type) {
	case *lit:
		holds, known = n.v.(bool)
	case *unary:
		if n.op == "!" {
			holds, known = decide(n.x, possible)
			return !holds, known
		}
	case *binary:
		switch n.op {
		case "&&", "||":
			decisive := n.op == "||" // what one side decides alone
			l, lKnown := decide(n.l, possible)
			r, rKnown := decide(n.r, possible)
			if lKnown && l == decisive || rKnown && r == decisive {
				return decisive, true
			}
			return !decisive, lKnown && rKnown
		case "==", "!=":
			holds, known = among(n.l, []node{n.r}, possible)
			if !known {
				holds, known = among(n.r, []node{n.l}, possible)
			}
			return holds == (n.op == "=="), known
		case "in":
			if list, ok := n.r.(*tuple); ok {
				return among(n.l, list.items, possible)
			}
		}
	}
	return holds, known
}

// among decides whether the status that x reads is one of the texts.
func among(x node, texts []node, possible func(ir.Ref) []string) (is, known bool) {
	r, ok := x.(*ref)
	if !ok || r.ref.Attr != "status" {
		return false, false
	}
	can := possible(r.ref)
	if can == nil {
		return false, false
	}
	hit := 0
	var seen []string
	for _, n := range texts {
		l, _ := n.(*lit)
		text, ok := l.name()
		if !ok {
			return false, false
		}
		if slices.Contains(can, text) && !slices.Contains(seen, text) {
			seen = append(seen, text)
			hit++
		}
	}
	switch hit {
	case 0:
		return false, true
	case len(can):
		return true, true
	}
	return false, false
}

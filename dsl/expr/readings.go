package expr

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// Bounds of what is told of an expression's readings.
const (
	MaxReadings     = 6  // names
	maxReadingName  = 80 // bytes of a name's text
	maxReadingValue = 60 // bytes of a string
	maxReadingItems = 4  // members of a list that are written out
)

// Readings says what an expression reads, in words for whoever asks why it is as it is: "step.build.output.coverage = 73". It is
// evaluated no further than that, for the names that stand in it, in their order; what is long is described instead of written out.
// It is "" where the expression reads nothing, or something sensitive.
func (ev *Evaluator) Readings(e *ir.Expr, s ir.Scope) string {
	if e.Kind == ir.Const || e.Sensitive || len(e.Reads) == 0 {
		return ""
	}
	t, err := ev.tree(e)
	if err != nil {
		return ""
	}
	var parts []string
	told := map[string]bool{}
	r := ev.begin(t, s)
	defer ev.end(r)
	t.names(t.root, func(n node) bool {
		name := shortenTo(t.part(n.at()), maxReadingName)
		if told[name] {
			return true
		}
		told[name] = true
		if len(parts) == MaxReadings {
			parts = append(parts, "…")
			return false
		}
		if v, err := r.eval(n); err == nil {
			parts = append(parts, name+" = "+reading(v))
		}
		return true
	})
	return strings.Join(parts, ", ")
}

// reading is a value in a few words.
func reading(v value.Value) string {
	switch v := v.(type) {
	case string:
		return string(value.AppendString(nil, shortenTo(v, maxReadingValue)))
	case []any:
		if len(v) > maxReadingItems {
			return fmt.Sprintf("a list of %d", len(v))
		}
		parts := make([]string, len(v))
		for i, item := range v {
			if _, list := item.([]any); list {
				parts[i] = "[…]"
			} else {
				parts[i] = reading(item)
			}
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		return fmt.Sprintf("an object of %d", len(v))
	}
	return string(value.Append(nil, v))
}

// names calls each for the names that a tree reads, with all of what is read below them that is known without computing anything:
// of step.a.output.list[0].name the whole. It stops where each returns false.
func (t *tree) names(n node, each func(node) bool) bool {
	if named(n) {
		return each(n)
	}
	for _, c := range below(n) {
		if c != nil && !t.names(c, each) {
			return false
		}
	}
	return true
}

// named tells whether a node is a name, or attributes and members with known keys of one.
func named(n node) bool {
	switch n := n.(type) {
	case *ref:
		return true
	case *member:
		return named(n.x)
	case *index:
		_, known := n.key.(*lit)
		return known && named(n.x)
	}
	return false
}

// below lists the parts of a node, some of which may be nil, in the order in which they are written.
func below(n node) []node {
	switch n := n.(type) {
	case *member:
		return []node{n.x}
	case *index:
		return []node{n.x, n.key}
	case *slice:
		return []node{n.x, n.from, n.to}
	case *unary:
		return []node{n.x}
	case *binary:
		return []node{n.l, n.r}
	case *cond:
		return []node{n.c, n.yes, n.no}
	case *template:
		return n.parts
	case *tuple:
		return n.items
	case *object:
		var list []node
		for i := range n.keys {
			list = append(list, n.keys[i], n.vals[i])
		}
		return list
	case *call:
		return n.args
	case *attempt:
		return n.args
	case *forEach:
		return []node{n.coll, n.key, n.val, n.cond}
	case *splat:
		return []node{n.x, n.each}
	case *predicate:
		return []node{n.coll, n.body, n.extra}
	case *let:
		return []node{n.x, n.body}
	}
	return nil
}

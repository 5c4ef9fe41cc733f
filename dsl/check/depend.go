package check

import (
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
)

// use is one node that another refers to.
type use struct {
	node  *Node
	needs bool       // its success is needed, not only its end
	at    diag.Range // where it is said
}

// needing are the attributes of a result that are there after success only, and the whole of it: who reads one of them
// needs the node, who reads others observes it.
var needing = map[string]bool{"output": true, "stdout": true, "instances": true, "": true}

// MaxShownCircle bounds how many members of a circle a message names.
const MaxShownCircle = 12

// depend collects what a node refers to, from depends_on and from all that its expressions and gates read, and refuses
// what a node cannot refer to: itself, the groups around it, what lies inside it, and what is hidden inside a for_each.
func (c *checker) depend(w *Workflow, n *Node) (uses []use) {
	seen := map[*Node]int{}
	add := func(name string, needs bool, at func() diag.Range) {
		to := w.ByName[name]
		if to == nil {
			return
		}
		i, there := seen[to]
		if !there {
			u := use{node: to, needs: needs}
			d := refused(n, to)
			drawn := true
			if d == nil {
				drawn, d = crosses(n, to)
			}
			if !drawn {
				u.node = nil
			}
			if d != nil {
				d.Subject, d.Context = at(), n.Words()
				d.Notes = []diag.Note{{Text: to.Words() + " is declared here", Range: nameRange(to.Block)}}
				c.report(*d)
				u.node = nil
			} else if drawn {
				u.at = at()
			}
			seen[to] = len(uses)
			uses = append(uses, u)
			return
		}
		uses[i].needs = uses[i].needs || needs
	}
	if a := n.attr("depends_on"); a != nil {
		for _, r := range a.Names {
			if w.ByName[r.Name] == nil {
				c.unknown(w, n, r.Name, r.Range)
				continue
			}
			add(r.Name, true, func() diag.Range { return r.Range })
		}
	}
	n.each(func(a *Attr, e *ir.Expr) {
		for _, r := range e.Reads {
			if to := w.ByName[r.Name]; r.Root == "step" && !(to != nil && n.holds(to) && looksInside[a.Src.Name]) {
				add(r.Name, needing[r.Attr], func() diag.Range { return a.locate(r.Name) })
			}
		}
	})
	out := uses[:0]
	for _, u := range uses {
		if u.node != nil {
			out = append(out, u)
			if u.needs {
				n.Needs = append(n.Needs, u.node.Name)
			} else {
				n.Observes = append(n.Observes, u.node.Name)
			}
		}
	}
	sort.Strings(n.Needs)
	sort.Strings(n.Observes)
	return out
}

// each calls f with every checked expression of the node itself: its attributes and the blocks in it, but not its
// compensation and its children's.
func (n *Node) each(f func(*Attr, *ir.Expr)) {
	walk(n.Block, f)
	for _, b := range n.Blocks {
		if !isNode(b) && b.Schema.Kind != "compensate" {
			walk(b, f)
		}
	}
}

// looksInside are the attributes of a group that are asked when its nodes, or some of them, have ended, and may name them.
var looksInside = map[string]bool{"until": true, "join": true, "value": true, "winner": true}

func walk(b *Block, f func(*Attr, *ir.Expr)) {
	for _, src := range b.Src.Body.Attrs {
		a := b.Attrs[src.Name]
		if a == nil {
			continue
		}
		if a.Expr != nil {
			f(a, a.Expr)
		}
		for _, name := range slices.Sorted(maps.Keys(a.Env)) {
			if e := a.Env[name]; e != nil {
				f(a, e)
			}
		}
		for i := range a.Values {
			f(a, &a.Values[i])
		}
		for _, e := range a.picks {
			if e != nil {
				f(a, e)
			}
		}
	}
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

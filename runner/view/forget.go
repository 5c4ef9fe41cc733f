package view

import "github.com/flowrun/flowrun/dsl/ir"

// KeptIterations is how many iterations of a repeat a view that forgets keeps: the one at hand and the one before.
const KeptIterations = 2

// Forget lets the view drop the iterations of a repeat that others have followed, and what lies below them, so that what polls
// for days needs no memory for each time that it asked. [Run.Leaves] still counts them. Iterations that a compensation may
// come back to are kept, and so are all where the view was made without a workflow. It is for whoever shows a run as it goes,
// and called before the first batch.
func (r *Run) Forget() {
	r.forgets = map[string]bool{}
	for name, n := range r.declared { // any order: a set is made
		r.forgets[name] = n.Repeat != nil && !compensates(n)
	}
}

// compensates tells whether a node or one below it can be undone.
func compensates(n *ir.Node) bool {
	if n.Compensate != nil {
		return true
	}
	for i := range n.Children {
		if compensates(&n.Children[i]) {
			return true
		}
	}
	return false
}

// follow makes room for an iteration that has just been added to a repeat.
func (r *Run) follow(n *Node) {
	if p := n.Parent; r.forgets[n.Name] && len(p.Children) > KeptIterations && n.Iteration() > 0 {
		r.drop(p.Children[0])
		p.Children = append(p.Children[:0], p.Children[1:]...)
	}
}

// drop forgets a node and all below it.
func (r *Run) drop(n *Node) {
	delete(r.byPath, n.Path)
	for _, c := range n.Children {
		r.drop(c)
	}
}

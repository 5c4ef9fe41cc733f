package retry

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/view"
)

// survey finds out which nodes of a run run again. Every node is asked a constant number of times, and once more when a
// group turns out not to keep its losers.
type survey struct {
	graph *plan.Graph
	run   *view.Run
	asked []bool // by node: it was asked for; nil: everything was
	only  bool   // only the named node runs again

	named  map[*view.Node]bool
	keeps  *view.Node                   // the outermost for_each around the one instance that runs again; nil: none
	set    map[*view.Node]*event.Reused // by a person
	opened map[*view.Node]bool          // groups that are decided again, so that what lies in them counts
	wholes map[*view.Node]bool
	parts  map[*view.Node]bool
	err    error // a result cannot be read
}

func newSurvey(g *plan.Graph, first *event.RunStarted, r *view.Run, only bool) *survey {
	s := &survey{graph: g, run: r, only: only, named: map[*view.Node]bool{}, set: map[*view.Node]*event.Reused{}, opened: map[*view.Node]bool{}}
	if len(first.Targets) > 0 {
		s.asked = g.Closure(first.Targets)
	}
	if first.Skip != "" {
		s.asked = make([]bool, len(g.Nodes))
	}
	return s
}

// name marks the nodes of a name or path. What lies in a repeat is the whole of it.
func (s *survey) name(word string) {
	s.each(func(n *view.Node) {
		if n.Path == word || n.Name == word && !instance(n) {
			s.named[n] = true
		}
	})
	number := s.graph.Number(view.Base(word))
	for up := number; up != plan.None; up = s.graph.Nodes[up].Parent {
		if s.graph.Nodes[up].Loop != plan.None {
			s.each(func(n *view.Node) {
				if s.number(n) == up && s.leaf(n) && (word == s.graph.Nodes[number].Name || strings.HasPrefix(word, n.Path)) {
					s.named[n] = true
				}
			})
		}
	}
}

// repeatOf returns the path of the repeat if a word is the path of an iteration: a repeat is one piece. Any other word is returned as it is.
func repeatOf(g *plan.Graph, word string) string {
	if up := view.Parent(word); up != "" && g.Number(view.Base(word)) == plan.None {
		return up
	}
	return word
}

// knowPath refuses the path of a node that the run does not have: the run would run nothing again. A name is known by the workflow, and its
// node need not be there.
func (s *survey) knowPath(word string) error {
	name := view.Base(word)
	if name == word || len(s.named) > 0 {
		return nil
	}
	message := fmt.Sprintf("run %s has no node %q", s.run.ID, word)
	var paths []string
	s.each(func(n *view.Node) {
		if n.Name == name && len(paths) < MaxNamed {
			paths = append(paths, n.Path)
		}
	})
	if len(paths) > 0 {
		message += "; it has " + strings.Join(paths, ", ")
	}
	return &Refusal{message, Without, ""}
}

// keepOthers notes, if a word is the path of an instance, that the other instances keep their ends. It refuses an instance that is not
// there, and one beside instances that have no end.
func (s *survey) keepOthers(word string) error {
	if view.Base(word) == word {
		return nil
	}
	n := s.run.Node(word)
	if n == nil || !instance(n) || !s.named[n] {
		return &Refusal{fmt.Sprintf("run %s has no instance %q of a for_each that can run alone", s.run.ID, word), Without, ""}
	}
	for ; n != nil; n = n.Parent {
		if !instance(n) {
			continue
		}
		s.keeps = n.Parent
		if missing := s.keeps.Members - len(s.keeps.Children); missing > 0 {
			return &Refusal{fmt.Sprintf("%q cannot run alone: %d other instances of %q never started in run %s", word, missing, s.keeps.Path, s.run.ID), WholeRun, ""}
		}
	}
	return nil
}

// kept reports whether a node belongs to an instance that keeps its end beside the one that runs again.
func (s *survey) kept(n *view.Node) bool {
	for up := n; s.keeps != nil && up != nil; up = up.Parent {
		if up == s.keeps {
			return n != up
		}
	}
	return false
}

// each calls f for every node of the workflow but those in repeats, which are one piece, and in finally.
func (s *survey) each(f func(*view.Node)) {
	var visit func(n *view.Node)
	visit = func(n *view.Node) {
		if f(n); s.leaf(n) {
			return
		}
		for _, c := range n.Children {
			visit(c)
		}
	}
	for _, n := range s.run.Roots {
		if !s.final(n) {
			visit(n)
		}
	}
}

// settle decides all. A group that keeps its losers and in which something runs again all the same keeps them no more.
func (s *survey) settle() {
	for again := true; again; {
		again = false
		s.wholes, s.parts = map[*view.Node]bool{}, map[*view.Node]bool{}
		s.each(func(n *view.Node) {
			if s.covers(n) && s.touched(n) {
				s.opened[n], again = true, true
			}
		})
	}
}

// whole tells that a node runs again with all that lies in it.
func (s *survey) whole(n *view.Node) bool {
	v, known := s.wholes[n]
	if !known {
		v = s.named[n] || n.Parent != nil && s.whole(n.Parent) || !s.only && (s.lost(n) || s.follows(n))
		s.wholes[n] = v
	}
	return v
}

// lost tells that there is nothing of a node that could be reused. A group that had enough when a step in it ended the run is no
// group that had enough without that step, which is not reused.
func (s *survey) lost(n *view.Node) bool {
	return n.Compensation != nil || s.leaf(n) && (undone(n) || !s.settled(n) && !s.covered(n) || s.decided(n))
}

// ends reports whether a node is a step that ends the run.
func ends(n *plan.Node) bool { _, ok := n.Action.(*ir.End); return ok }

// decided tells that a step has ended the run, and with it a group that holds it.
func (s *survey) decided(n *view.Node) bool {
	if !ends(&s.graph.Nodes[s.number(n)]) || n.Status != event.Succeeded {
		return false
	}
	for n = n.Parent; n != nil; n = n.Parent {
		if s.graph.Nodes[s.number(n)].Joins() {
			return true
		}
	}
	return false
}

// touched tells that something of a node runs again.
func (s *survey) touched(n *view.Node) bool {
	v, known := s.parts[n]
	if !known {
		v = s.whole(n) || s.set[n] != nil
		if !v && !s.leaf(n) {
			v = !s.only && !s.settled(n) && !s.covered(n)
			for _, c := range n.Children {
				v = v || s.touched(c)
			}
		}
		s.parts[n] = v
	}
	return v
}

// follows tells that something that a node waits for runs again.
func (s *survey) follows(n *view.Node) bool {
	if instance(n) { // the whole has waited for all of them
		return false
	}
	for _, a := range s.graph.Nodes[s.number(n)].Awaits {
		if on := s.seen(n, a.Node); on == nil || s.touched(on) {
			return true
		}
	}
	return false
}

// seen is the node of a number as another one sees it: of the same instance, where both lie in one. nil where it never came up.
func (s *survey) seen(from *view.Node, number int) *view.Node {
	path := s.graph.Nodes[number].Name
	for up := s.graph.Nodes[number].Parent; up != plan.None; up = s.graph.Nodes[up].Parent {
		name := s.graph.Nodes[up].Name
		for n := from.Parent; n != nil; n = n.Parent {
			if n.Name == name {
				return s.run.Node(n.Path + "/" + path)
			}
		}
		path = name + "/" + path
	}
	return s.run.Node(path)
}

// settled tells that a node ended in a way that stands. What was skipped because nobody asked for it did not.
func (s *survey) settled(n *view.Node) bool {
	switch {
	case n.Compensation != nil, s.leaf(n) && undone(n):
		return false
	case n.Status == event.FailedS:
		return n.Result != nil && n.Result.Tolerated
	case n.Status == event.Skipped:
		return s.asked == nil || s.asked[s.number(n)]
	}
	return n.Status == event.Succeeded
}

// covers tells that a node ended well, or was tolerated, whatever some of those that lie in it ended as.
func (s *survey) covers(n *view.Node) bool {
	if s.opened[n] || s.leaf(n) || n.Status == event.Skipped || !s.settled(n) {
		return false
	}
	return n.Status == event.FailedS || s.graph.Nodes[s.number(n)].Joins()
}

func (s *survey) covered(n *view.Node) bool {
	for n = n.Parent; n != nil; n = n.Parent {
		if s.covers(n) {
			return true
		}
	}
	return false
}

// undone tells that something of a node was undone, also of a repeat, which is one piece. One that is made alone finds it neither done nor in need of being undone.
func undone(n *view.Node) bool {
	return n.Compensation != nil || slices.ContainsFunc(n.Children, undone)
}

func (s *survey) number(n *view.Node) int { return s.graph.Number(n.Name) }

// final tells that a node at the top belongs to finally.
func (s *survey) final(n *view.Node) bool {
	all := s.graph.Finally
	return len(all) > 0 && s.number(n) >= all[0]
}

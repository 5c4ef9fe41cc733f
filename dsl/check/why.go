package check

import "fmt"

// whyNull says in a sentence why what a node makes can be null where a reader runs, or "". reader is nil for the outputs of
// the workflow. It mirrors [Node.skippable] and [Node.tolerated].
func (n *Node) whyNull(reader *Node) string {
	switch {
	case n.tolerated():
		return fmt.Sprintf("The failure of %s is tolerated.", n.Words())
	case reader != nil && reader.lenient():
		return fmt.Sprintf("trigger_rule = %q lets %s start though %s has failed.", reader.Text("trigger_rule"), reader.Words(), n.Words())
	case reader != nil && reader.final && reader.top() != n.top():
		return fmt.Sprintf("finally runs however %s ended.", n.Words())
	}
	for p := n; p != nil; p = p.Parent {
		if reader != nil && (p == reader || p.holds(reader)) {
			return ""
		}
		switch g := p.Parent; {
		case p.leftOut():
			return fmt.Sprintf("%s has a condition.", upper(p.Words()))
		case p.skippedWith() != nil:
			return fmt.Sprintf("%s is skipped with %s, for its trigger_rule is \"all_success\".", upper(p.Words()), p.skippedWith().Words())
		case p.lenient():
			return fmt.Sprintf("%s is skipped if its trigger_rule cannot be satisfied.", upper(p.Words()))
		case p.Case > 0 && (reader == nil || !p.sameCase(reader)):
			return fmt.Sprintf("%s runs only if its case of %s is taken.", upper(p.Words()), g.Words())
		case g != nil && g.picks() && g.attr("for_each") == nil && (reader == nil || g != reader && !g.holds(reader)):
			return fmt.Sprintf("The join of %s can be satisfied without %s.", g.Words(), p.Words())
		}
	}
	return ""
}

// because is whyNull by the name of a node, for messages about expressions of a reader.
func (w *Workflow) because(reader *Node) func(string) string {
	return func(name string) string {
		if n := w.ByName[name]; n != nil {
			return n.whyNull(reader)
		}
		return ""
	}
}

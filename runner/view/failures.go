package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/runner/event"
)

// MaxFailures bounds how many failures the last line of a run names.
const MaxFailures = 5

// maxCauses bounds how many failed nodes a blocked node names.
const maxCauses = 3

// Failure is a step that failed, in short.
type Failure struct {
	Node string // the instance's path
	Item string // names the item of the instance, as in [Node]
	// Error is the error's message. Said is the last line that the attempt wrote to its standard error, or to its standard output if
	// that is empty; "" if it wrote nothing, or if the message has it.
	Error, Said string
}

// Title is the path of the step, with the name of its item if it has one.
func (f *Failure) Title() string { return titled(f.Node, f.Item) }

// Failures returns the steps that failed, and how many there are: first the step whose error is that of the run, then the others in the
// order of the view. A failure that was tolerated does not count, and a group fails by what is in it, so it is left out. most bounds the
// list; 0 is no bound.
func (r *Run) Failures(most int) (list []Failure, all int) {
	first := ""
	if r.Error != nil {
		first = r.Error.Node
	}
	r.Each(func(n *Node, _ int) {
		if !n.Failed() || n.Result != nil && n.Result.Tolerated {
			return
		}
		f := Failure{Node: n.Path, Item: n.Item, Said: n.Said()}
		if n.Result != nil && n.Result.Error != nil {
			f.Error = n.Result.Error.Message
		}
		if all++; n.Path == first {
			list = slices.Insert(list, 0, f)
		} else if most == 0 || len(list) <= most {
			list = append(list, f)
		}
	})
	if most > 0 {
		list = list[:min(len(list), most)]
	}
	return list, all
}

// Failed reports whether the node failed by itself, and not by the nodes below it.
func (n *Node) Failed() bool {
	if n.Status != event.FailedS || n.Iteration() > 0 {
		return false
	}
	return n.tells() || n.Result != nil && n.Result.Error != nil && n.Result.Error.Reason != event.ReasonChild
}

// endsProgram reports whether an error has a cause that a program usually writes before it ends.
func endsProgram(r event.Reason) bool {
	return r == event.ReasonExit || r == event.ReasonSignal || r == event.ReasonTimeout || r == event.ReasonDeadline
}

// Said returns the last line that a node's failed attempt wrote, to its standard error or else to its standard output; "" if there is
// none, or if the error's message has it.
func (n *Node) Said() string {
	res := n.Result
	if res == nil || res.Error == nil || n.Status != event.FailedS || !endsProgram(res.Error.Reason) {
		return ""
	}
	res = res.Shown()
	line := LastLine(res.Stderr)
	if line == "" {
		line = LastLine(res.Stdout)
	}
	if strings.Contains(res.Error.Message, line) {
		return ""
	}
	return line
}

// LastLine returns the last line of a text that is not blank, without blanks around it.
func LastLine(text string) string {
	text = strings.TrimRight(text, "\r\n\t ")
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}

// explainBlocked adds to the reason of a blocked node which failed nodes it is blocked by, if it names only a blocked neighbour.
func (r *Run) explainBlocked(n *Node, reason string) string {
	if !strings.HasSuffix(reason, "is blocked") {
		return reason
	}
	var causes []string
	r.causes(n, map[*Node]bool{}, &causes)
	if len(causes) == 0 {
		return reason
	}
	for i, c := range causes[:min(len(causes), maxCauses)] {
		causes[i] = fmt.Sprintf("%q", c)
	}
	if more := len(causes) - maxCauses; more > 0 {
		causes = append(causes[:maxCauses], fmt.Sprintf("%d more", more))
	}
	return reason + " because " + strings.Join(causes, " and ") + " failed"
}

// causes adds the paths of the failed nodes that a node waits for, also over blocked ones.
func (r *Run) causes(n *Node, seen map[*Node]bool, list *[]string) {
	d := r.declared[n.Name]
	if d == nil || seen[n] {
		return
	}
	seen[n] = true
	needs := r.awaited(n, d)
	if n.Parent != nil && n.Parent.Status == event.Blocked {
		r.causes(n.Parent, seen, list)
	}
	for _, name := range needs {
		o := r.visible(n, name)
		switch {
		case o == nil || seen[o]:
		case o.Status == event.FailedS || o.Status == event.Cancelled || o.Status == event.Running:
			seen[o] = true
			if f := firstFailure(o); f != nil {
				*list = append(*list, f.Path)
			}
		case o.Status == event.Blocked || o.Status == event.Pending:
			r.causes(o, seen, list)
		}
	}
}

// visible returns the node of a name that a node sees: the nearest on the way up from its own group; nil if there is none.
func (r *Run) visible(n *Node, name string) *Node {
	for up := n.Parent; up != nil; up = up.Parent {
		if o := r.byPath[up.Path+"/"+name]; o != nil && o.Name == name {
			return o
		}
	}
	return r.byPath[name]
}

// firstFailure returns the first node that failed by itself, of a node and those below it; nil if there is none.
func firstFailure(n *Node) *Node {
	if n.Failed() && (n.Result == nil || !n.Result.Tolerated) {
		return n
	}
	for _, c := range n.Children {
		if f := firstFailure(c); f != nil {
			return f
		}
	}
	return nil
}

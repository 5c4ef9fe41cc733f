package graph

import (
	"strings"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// State is how far a node came in a run.
type State struct {
	Status   event.Status `json:"status"`
	Attempts int          `json:"attempts,omitempty"` // of all its instances and iterations
	Reason   string       `json:"reason,omitempty"`   // where the run has one, such as the condition that was false
	// Iterations is the number of the last one of a node that repeats.
	Iterations int `json:"iterations,omitempty"`
	// Instances counts them by status, where there are any: of for_each, or of a node inside of one.
	Instances map[event.Status]int `json:"instances,omitempty"`

	stood bool // nobody drives the run, so nothing of it runs
}

// grave orders statuses: a node of several instances has the gravest of theirs.
var grave = map[event.Status]int{
	event.FailedS: 8, event.Blocked: 7, event.Cancelled: 6, event.Running: 5, event.Waiting: 4, event.Pending: 3,
	event.Succeeded: 2, event.Skipped: 1,
}

// Show gives the nodes the states that they have in a run of the same workflow.
func (g *Graph) Show(run *view.Run) {
	driven := run.Driven
	g.Run, g.Status, g.word, g.Driven = run.ID, run.Status, run.Word(), &driven
	byName := map[string][]*view.Node{}
	run.Each(func(n *view.Node, _ int) { byName[n.Name] = append(byName[n.Name], n) })
	for i := len(g.Nodes) - 1; i >= 0; i-- { // what lies in a group comes behind it
		n := &g.Nodes[i]
		if found := byName[n.ID]; len(found) > 0 {
			n.State = stateOf(run, found)
		} else if len(n.below) > 0 {
			n.State = g.gravest(n.below)
		}
		if n.State != nil {
			n.State.stood = run.Stands != 0
		}
	}
}

// stateOf joins the nodes of one name: a node, its instances and iterations, those in the instances of a group. Of
// iterations the last one counts.
func stateOf(run *view.Run, all []*view.Node) *State {
	s := &State{Status: event.Skipped}
	own, instances, members := map[string]*view.Node{}, map[string]*view.Node{}, false
	for _, n := range all {
		key := placeOf(n)
		switch {
		case n.Parent == nil || n.Parent.Name != n.Name:
			own[key] = n
		case strings.HasSuffix(n.Path, "]"):
			instances[key] = n
			members = true
		default:
			s.Iterations = max(s.Iterations, n.Iteration())
		}
		if len(n.Children) == 0 || n.Children[0].Name != n.Name {
			s.Attempts += n.Attempt
		}
	}
	for _, n := range own { // any order: the gravest is the same
		if grave[n.Status] > grave[s.Status] {
			s.Status = n.Status
		}
		if len(own) == 1 {
			s.Reason = run.Why(n)
		}
	}
	if !members && len(own) > 1 {
		instances = own
	}
	for _, n := range instances { // any order: they are counted
		if s.Instances == nil {
			s.Instances = map[event.Status]int{}
		}
		s.Instances[n.Status]++
	}
	return s
}

// placeOf is a node's path without the iterations in it.
func placeOf(n *view.Node) string {
	if n.Parent == nil {
		return n.Path
	}
	if n.Iteration() > 0 {
		return placeOf(n.Parent)
	}
	return placeOf(n.Parent) + n.Path[len(n.Parent.Path):]
}

// gravest is the state of what has none of its own: a case, or finally.
func (g *Graph) gravest(below []int) (s *State) {
	for _, i := range below {
		if b := g.Nodes[i].State; b != nil && (s == nil || grave[b.Status] > grave[s.Status]) {
			s = &State{Status: b.Status}
		}
	}
	return s
}

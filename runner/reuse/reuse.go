// Package reuse finds out what the run of one program is worth to another program: to the same file after a change.
//
// A node keeps its result if the changed program asks for the same work, with all that the request reads, and if the same holds for
// every node that it waits for. To find these nodes, a machine of the changed program runs in the world of the old run, in virtual
// time ([replay.World.Reuse]): what is asked for in the same words has the answer of then, and the rest stays open. Which of the nodes
// that have ended there are reused is decided as for a run that is repeated unchanged ([retry.Of]). Steps that the machine itself
// computes cost nothing and have no effect: they are computed again, and nobody runs again because of them.
//
// The package is pure: it reads no store and makes no machine. Enter at [Of].
package reuse

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/replay"
	"github.com/flowrun/flowrun/runner/retry"
	"github.com/flowrun/flowrun/runner/view"
)

// Past is a run that has ended.
type Past struct {
	Graph *plan.Graph // of the program that it ran
	First *event.RunStarted
	View  *view.Run // forgets iterations
	World *replay.World
	// Lost are nodes whose results are from a run that is not there any more: why, by path.
	Lost map[string]string
}

// Store is what a comparison needs of its host.
type Store struct {
	// Past gives a run that has ended. The error says in words why it is not to be had.
	Past func(run string) (*Past, error)
	// Machine makes a machine of a workflow, of the newest behaviour.
	Machine func(p *ir.Program, workflow string) (replay.Machine, error)
}

// Why is the cause that a node runs again.
type Why string

// The causes.
const (
	Changed Why = "changed" // its request is not that of then
	New     Why = "new"     // the old run had no such node
	Failed  Why = "failed"  // it did not end well, was compensated, or did not run
	Called  Why = "called"  // something in the run that it calls runs again
	Wished  Why = "wished"  // somebody asked for it
	After   Why = "after"   // it waits for a node that runs again
)

// Again is a node that runs in the new run. Words say why.
type Again struct {
	Node    string          `json:"node"` // the path
	Why     Why             `json:"why"`
	Words   string          `json:"words"`
	Changes []replay.Change `json:"changes,omitempty"` // of Changed and Failed
}

// Plan is what becomes of the nodes of the changed program.
type Plan struct {
	Kept   *retry.Plan // what the new run is told
	Reused []string    // paths of the steps and repeats that keep their results, in the order of the file
	Again  []Again     // those that run, without finally and steps that are computed
	Gone   []string    // paths of steps and repeats of the old run that the program does not have
}

// comparer compares the past of one run, and of those that it called, with a program.
type comparer struct {
	store   Store
	program *ir.Program
	free    *ir.Program // the program without bounds on what may run at once; nil until it is needed
	first   *event.RunStarted
}

// Of compares a run that has ended with a program: first is how the run would begin with the program, with the inputs and variables
// that the program gets. A wish that cannot be granted is a *retry.Refusal.
func Of(store Store, old *Past, p *ir.Program, first event.RunStarted, w retry.Wish) (*Plan, error) {
	c := &comparer{store: store, program: p, first: &first}
	g, err := plan.Build(p, first.Workflow)
	if err != nil {
		return nil, err
	}
	first.Run, first.Skip, first.Cancelled, first.Reused = old.First.Run, "", "", given(old.First.Reused, g)
	out, err := c.play(first, old, c.left(old))
	if err != nil {
		return nil, err
	}
	w.Changed = true
	kept, err := retry.Of(g, &first, out.View, w)
	if err != nil {
		return nil, err
	}
	for path, k := range kept.Reused { // any order: each for itself
		was := old.View.Node(path)
		switch node := &g.Nodes[g.Number(view.Base(path))]; {
		case k.Set:
		case computed(node) && (node.Body == plan.None || strings.HasSuffix(path, "]")) && !around(kept.Reused, path) && (was == nil || was.Result == nil || was.Status != k.Status || !value.Equal(was.Result.Shown().Output, k.Output)):
			delete(kept.Reused, path)
		case was != nil && was.Result != nil:
			k.StartedAt, k.FinishedAt = was.Result.StartedAt, was.Result.FinishedAt
		}
	}
	r := &Plan{Kept: kept}
	r.tell(g, old, out, w)
	return r, nil
}

// given are the results that a person gave, of steps that the graph has.
func given(reused map[string]*event.Reused, g *plan.Graph) map[string]*event.Reused {
	out := maps.Clone(reused)
	maps.DeleteFunc(out, func(path string, k *event.Reused) bool {
		return !k.Set || g.Number(view.Base(path)) == plan.None
	})
	return out
}

// computed reports whether the machine computes a step, at once and without effect.
func computed(n *plan.Node) bool {
	return n.Kind == ir.Step && n.Loop == plan.None && n.Action.Kind().Course() == ir.Computed
}

// around reports whether a node that holds this one keeps its result: all that lies in it then ends as it did.
func around(reused map[string]*event.Reused, path string) bool {
	for up := view.Parent(path); up != ""; up = view.Parent(up) {
		if reused[up] != nil {
			return true
		}
	}
	return false
}

// left says of nodes of the old run why nothing of them is reused: they failed, were undone, or are from a run that is gone.
func (c *comparer) left(old *Past) map[string]string {
	left := maps.Clone(old.Lost)
	if left == nil {
		left = map[string]string{}
	}
	kept, err := retry.Of(old.Graph, old.First, old.View, retry.Wish{Changed: true})
	old.View.Each(func(n *view.Node, _ int) {
		switch {
		case n.Compensation != nil:
			left[n.Path] = "it was compensated"
		case isIteration(old.Graph, n), inRepeat(old.Graph, &old.Graph.Nodes[old.Graph.Number(n.Name)]):
		case n.Status == event.FailedS && (len(n.Children) == 0 || old.Graph.Nodes[old.Graph.Number(n.Name)].Loop != plan.None) && (err != nil || kept.Reused[n.Path] == nil):
			left[n.Path] = "it failed"
		}
	})
	return left
}

// play runs the program in the world of an old run. Where something stays open there, others may wait for its slots for ever, so the
// program then runs without bounds on what may run at once.
func (c *comparer) play(first event.RunStarted, old *Past, left map[string]string) (*replay.Outcome, error) {
	out, err := c.playOnce(c.program, first, old, left)
	if err != nil || len(out.New)+len(out.Changed) == 0 {
		return out, err
	}
	if c.free == nil {
		if c.free, err = unbounded(c.program); err != nil {
			return nil, err
		}
	}
	first.Parallel = MaxParallel
	return c.playOnce(c.free, first, old, left)
}

// MaxParallel is how many attempts may be live at once where nothing bounds them.
const MaxParallel = 10_000

func (c *comparer) playOnce(p *ir.Program, first event.RunStarted, old *Past, left map[string]string) (*replay.Outcome, error) {
	m, err := c.store.Machine(p, first.Workflow)
	if err != nil {
		return nil, err
	}
	v := view.New(p.Workflow(first.Workflow))
	v.Forget()
	return old.World.Reuse(m, first, v, left, c.call)
}

// unbounded is a program without bounds on what may run at once.
func unbounded(p *ir.Program) (*ir.Program, error) {
	out, err := ir.Load(p.Canonical())
	if err != nil {
		return nil, err
	}
	for i := range out.Agents {
		out.Agents[i].Concurrency = nil
	}
	var free func(nodes []ir.Node)
	free = func(nodes []ir.Node) {
		for i := range nodes {
			nodes[i].MaxConcurrency, nodes[i].Adapt = nil, nil
			free(nodes[i].Children)
		}
	}
	for i := range out.Workflows {
		w := &out.Workflows[i]
		w.MaxConcurrency, w.Adapt = nil, nil
		free(w.Nodes)
		if w.Finally != nil {
			free(w.Finally.Nodes)
		}
	}
	return out, nil
}

// call answers for a run that the old run called: it ends without work if the program would ask for the same work in it.
func (c *comparer) call(run string, call *event.StartChild) (*event.ChildFinished, string) {
	old, err := c.store.Past(run)
	if err != nil {
		return nil, err.Error()
	}
	if !old.View.Status.Terminal() {
		return nil, "the run that it called has not ended"
	}
	first := *old.First
	first.Workflow, first.Inputs, first.Late, first.Vars, first.Dir = call.Workflow, call.Inputs, call.Late, c.first.Vars, c.first.Dir
	first.Reused, first.Skip, first.Budget, first.Asks, first.Held = nil, "", nil, nil, nil
	out, err := c.play(first, old, old.Lost)
	switch {
	case err != nil:
		return nil, err.Error()
	case len(out.Changed) > 0:
		r := &out.Changed[0]
		return nil, fmt.Sprintf("in workflow %q, %s", call.Workflow, r.Node+": "+words(r.Changes))
	case len(out.New) > 0:
		return nil, fmt.Sprintf("in workflow %q, %q has no result", call.Workflow, out.New[0].Node)
	case !out.Ended:
		return nil, fmt.Sprintf("workflow %q does not end", call.Workflow)
	}
	return &event.ChildFinished{Run: call.Run, Node: call.Node, Status: out.View.Status, Outputs: out.View.Outputs, Error: out.View.Error, Usage: old.View.Usage}, ""
}

// words name what has changed.
func words(changes []replay.Change) string {
	names := make([]string, len(changes))
	for i := range changes {
		names[i] = changes[i].Field
	}
	return strings.Join(names, ", ") + " changed"
}

// tell lists what becomes of each step and repeat.
func (p *Plan) tell(g *plan.Graph, old *Past, out *replay.Outcome, w retry.Wish) {
	again := map[string]bool{}
	out.View.Each(func(n *view.Node, _ int) {
		if isIteration(g, n) {
			return
		}
		node := &g.Nodes[g.Number(n.Name)]
		piece := node.Kind == ir.Step || node.Loop != plan.None || len(n.Children) == 0
		switch {
		case len(g.Finally) > 0 && node.Number >= g.Finally[0], !piece, node.Body != plan.None && len(n.Children) > 0 && !strings.HasSuffix(n.Path, "]"):
		case p.Kept.Reused[n.Path] != nil:
			p.Reused = append(p.Reused, n.Path)
		case n.Status == event.Skipped, computed(node), inRepeat(g, node):
		default:
			again[n.Path] = true
			p.Again = append(p.Again, p.why(g, old, out, n, w, again))
		}
	})
	old.View.Each(func(n *view.Node, _ int) {
		if len(n.Children) == 0 && !isIteration(old.Graph, n) && out.View.Node(n.Path) == nil && n.Result != nil && g.Number(n.Name) == plan.None {
			p.Gone = append(p.Gone, n.Path)
		}
	})
}

// isIteration reports whether a node is an iteration, which belongs to its repeat.
func isIteration(g *plan.Graph, n *view.Node) bool {
	return n.Iteration() > 0 || g.Number(n.Name) == plan.None
}

// inRepeat reports whether a node lies in a repeat, which is one piece.
func inRepeat(g *plan.Graph, n *plan.Node) bool {
	for up := n.Parent; up != plan.None; up = g.Nodes[up].Parent {
		if g.Nodes[up].Loop != plan.None {
			return true
		}
	}
	return false
}

// why says why a node runs again.
func (p *Plan) why(g *plan.Graph, old *Past, out *replay.Outcome, n *view.Node, w retry.Wish, again map[string]bool) Again {
	a := Again{Node: n.Path}
	inside := func(r replay.Request) bool {
		return r.Node == n.Path || strings.HasPrefix(r.Node, n.Path+"/") || strings.HasPrefix(r.Node, n.Path+"[")
	}
	if at := slices.IndexFunc(out.Changed, inside); at >= 0 {
		r := &out.Changed[at]
		a.Why, a.Changes, a.Words = Changed, r.Changes, words(r.Changes)
		if r.Gate != "" {
			a.Words = fmt.Sprintf("gate %q: %s", r.Gate, a.Words)
		}
		return a
	}
	was := old.View.Node(n.Path)
	if at := slices.IndexFunc(out.New, inside); at >= 0 {
		r := &out.New[at]
		switch {
		case r.Why != "" && r.Workflow != "":
			a.Why, a.Words = Called, r.Why
		case r.Why != "":
			if a.Why, a.Words, a.Changes = Failed, r.Why, r.Changes; r.Changes != nil {
				a.Words += ", and " + words(r.Changes)
			}
		case was == nil:
			a.Why, a.Words = New, "it is new"
		case r.Gate != "":
			a.Why, a.Words = New, fmt.Sprintf("gate %q is new", r.Gate)
		default:
			a.Why, a.Words = Failed, "it "+ended(was)
		}
		return a
	}
	if w.From != "" && (w.From == n.Path || w.From == n.Name) {
		a.Why, a.Words = Wished, "you asked for it"
		return a
	}
	a.Why, a.Words = After, "a node that it waits for runs again"
	for _, on := range g.Nodes[g.Number(n.Name)].Awaits {
		name := g.Nodes[on.Node].Name
		for path := range again { // any order: one name is looked for
			if view.IsAbout(path, name) {
				a.Words = "after " + name
				return a
			}
		}
	}
	return a
}

// ended says how a node of the old run ended.
func ended(n *view.Node) string {
	switch n.Status {
	case event.FailedS:
		return "failed"
	case event.Skipped, event.Blocked, event.Cancelled:
		return "was " + string(n.Status)
	case event.Succeeded:
		return "asks for more than it did then"
	}
	return "did not run"
}

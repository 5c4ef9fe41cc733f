// Package plan turns one workflow of a program into the dense graph that the machine runs: nodes by number, regions,
// resolved dependencies.
//
// A region is a part of the graph that is activated together. Region 0 is the run itself. Every node
// with for_each or repeat owns a region, which holds the node (as an instance, or as an iteration) and
// the nodes below it without a region of their own. So such a node appears twice, or three times if it
// has both: in its parent's region as the collector that makes instances and gathers their outputs, in
// slot 0 of the region of its instances as the repeater that makes iterations one after the other, and
// in slot 0 of the region of its iterations. In the machine a frame is one activation of a region: a
// slice of states by slot.
//
// A graph is immutable and safe to share. [Graph.Left] computes from given durations how far each node
// is from the end of the run. The package does no I/O and knows no machine. Enter at [Build].
package plan

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
)

// Bounds of a run.
const (
	// DefaultConcurrency is the number of live attempts of a run if the workflow sets none.
	DefaultConcurrency = 8
	// MaxSilences is the number of silences in a row that fail an attempt, so that an agent that
	// always hangs is not asked forever.
	MaxSilences = 3
)

// Bounds of what a loop does.
const (
	// MaxPlaces is how many items an agent of a loop can have at once.
	MaxPlaces = 10_000
	// MaxLoopRate is the highest number that a limit of a loop can be.
	MaxLoopRate = 100_000
)

// None stands for "no node" and "no region".
const None = -1

// Graph is a workflow ready to run.
type Graph struct {
	Program  *ir.Program
	Workflow *ir.Workflow
	Nodes    []Node // by number, parents before children, in file order
	Top      []int  // the nodes directly in the workflow
	Finally  []int  // the nodes directly in its finally block
	Regions  []Region
	Pools    []*Pool                // in the order of the program
	Judges   map[*ir.Gate]*Assignee // who judges for a gate with a review; nil if no gate has one
	// InputGates judge the inputs before anything starts, in this order.
	InputGates []InputGate

	events  []string // see Events
	numbers map[string]int
	locals  map[string]*ir.Expr
}

// Region is a part of the graph that is activated together.
type Region struct {
	Owner int   // the node with for_each or repeat; None for the run
	Nodes []int // by slot
}

// Node is one node with everything resolved.
type Node struct {
	*ir.Node
	Number   int
	Parent   int // the enclosing group; None at the top
	Region   int // holds its state; for a node with for_each or repeat, the state of the whole
	Slot     int // its place in frames of that region
	Body     int // the region of its instances; None without for_each
	Loop     int // the region of its iterations; None without repeat
	Inner    int // the innermost of Region, Body and Loop, which holds its work and its children
	Below    []int
	Previous int // the sibling before in a sequence, or None
	// Awaits are the nodes that this one waits for, in order of their numbers.
	Awaits []Await
	// Awaited are the nodes of the same region that wait for this one.
	Awaited []Await
	// Own is who has the task of an agent step, and nil for other nodes. Else has it if the condition of the file does not hold; nil: Own
	// always has it.
	Own, Else *Assignee
	Gates     []*ir.Gate
	// WhenPerInstance is set if the condition reads each. It is then evaluated for every instance.
	WhenPerInstance bool
	// Always is set if the rule of the node, or of a group around it, is "always". A stop of the run
	// then neither ends the node nor keeps it from starting.
	Always bool
	// Others are those to fall back to, in order.
	Others []*Assignee
	// Escalation is that of the node; nil if it has none.
	Escalation *Escalation
	// Requires are the conditions that must hold before the node starts.
	Requires []Require
	// Ranked is the nearest node, from this one outwards, that has a priority; None if there is none.
	Ranked int
}

// InputGate is a gate that judges an input.
type InputGate struct {
	Input string
	*ir.Gate
}

// Assignee is who has a task: one agent, or a pool of agents. Members has all agents that may do the task.
type Assignee struct {
	Agent   *ir.Agent // nil for a pool
	Pool    *Pool
	Member  *ir.Expr    // the name of a member; nil: the strategy of the pool chooses
	Members []*ir.Agent // of the pool those that have the capabilities of the step, in the order of the circle
	Wanted  int         // how many capabilities the step asks for
}

// To has for each level of the node's escalation who takes the task over.
func (n *Node) To() []*Assignee {
	if n.Escalation == nil {
		return nil
	}
	return n.Escalation.To
}

// Escalation is an escalation as one node has it.
type Escalation struct {
	*ir.Escalation
	// To has for each level who takes the task of the node over; nil if nobody does.
	To []*Assignee
}

// Heals is how many levels of the node's escalation run a workflow, after which the node has another attempt.
func (n *Node) Heals() int { return n.levels(func(l *ir.Level) bool { return l.Heal != nil }) }

// AwaitsPeople is how many levels of the node's escalation await a decision, after which the node can have its attempts anew.
func (n *Node) AwaitsPeople() int { return n.levels(func(l *ir.Level) bool { return l.Await != nil }) }

func (n *Node) levels(which func(*ir.Level) bool) (count int) {
	if n.Escalation == nil {
		return 0
	}
	for i := range n.Escalation.Levels {
		if which(&n.Escalation.Levels[i]) {
			count++
		}
	}
	return count
}

// Level returns the number of a level by its name; None if there is none.
func (e *Escalation) Level(name string) int {
	return slices.IndexFunc(e.Levels, func(l ir.Level) bool { return l.Name == name })
}

// Name names the agent or the pool for people: pool p for one, and the name alone of an agent.
func (a *Assignee) Name() string {
	if a.Agent != nil {
		return a.Agent.Name
	}
	return "pool " + a.Pool.Name
}

// Chooses reports whether the strategy of a pool chooses who has the task.
func (a *Assignee) Chooses() bool { return a.Pool != nil && a.Member == nil }

// Pool is a pool with its agents.
type Pool struct {
	*ir.Pool
	Members []*ir.Agent
}

// Require is a condition of a node. A condition that reads each is evaluated for every instance.
type Require struct {
	*ir.Require
	PerInstance bool
}

// Joins reports whether the node has a join or a rule for losers, and so can end before all of its
// children or instances have ended.
func (n *Node) Joins() bool { return n.Join != nil || n.Losers != "" }

// Await is one edge. If Needs is set, the node must not have failed; if not, any end counts.
type Await struct {
	Node  int
	Needs bool
}

// Build makes the graph of a workflow; that of a loop has no nodes. An error means that the program was not checked; a checked
// program gives none.
func Build(p *ir.Program, workflow string) (*Graph, error) {
	w := p.Workflow(workflow)
	if w == nil && p.Loop(workflow) != nil {
		w = &ir.Workflow{Name: workflow}
	}
	if w == nil {
		return nil, fmt.Errorf("plan: no workflow %q in the program", workflow)
	}
	g := &Graph{Program: p, Workflow: w, numbers: map[string]int{}, locals: map[string]*ir.Expr{}, Regions: []Region{{Owner: None}}}
	for i := range p.Locals {
		g.locals[p.Locals[i].Name] = &p.Locals[i].Expr
	}
	g.Top = g.addNodes(w.Nodes, None, 0, false)
	if w.Finally != nil {
		g.Finally = g.addNodes(w.Finally.Nodes, None, 0, false)
	}
	if err := g.resolveNames(); err != nil {
		return nil, err
	}
	for i := range g.Nodes {
		if w, waits := g.Nodes[i].Action.(*ir.Wait); waits && w.Event != "" {
			g.events = append(g.events, w.Event)
		}
	}
	slices.Sort(g.events)
	g.events = slices.Compact(g.events)
	return g, nil
}

// Adapts reports whether the workflow or one of its groups has rules of adapt.
func (g *Graph) Adapts() bool {
	return len(g.Workflow.Adapt) > 0 || slices.ContainsFunc(g.Nodes, func(n Node) bool { return len(n.Adapt) > 0 })
}

// ReadsMachine reports whether rules of the workflow read figures of the machine: cpu or memory.
func (g *Graph) ReadsMachine() bool {
	reads := func(list []ir.Adapt) bool {
		return slices.ContainsFunc(list, func(a ir.Adapt) bool {
			return slices.ContainsFunc(a.Reads(), func(r ir.Ref) bool {
				return r.Root == "metrics" && (r.Name == "cpu" || r.Name == "memory" || r.Name == "")
			})
		})
	}
	return reads(g.Workflow.Adapt) || slices.ContainsFunc(g.Nodes, func(n Node) bool { return reads(n.Adapt) })
}

// Events returns the names of the events that the workflow waits for, in order.
func (g *Graph) Events() []string { return g.events }

// addNodes numbers the nodes of one body and the nodes below them.
func (g *Graph) addNodes(nodes []ir.Node, parent, region int, ordered bool) []int {
	numbers := make([]int, len(nodes))
	previous := None
	for i := range nodes {
		n := &nodes[i]
		id := len(g.Nodes)
		numbers[i], g.numbers[n.Name] = id, id
		g.Nodes = append(g.Nodes, Node{Node: n, Number: id, Parent: parent, Region: region, Slot: g.takeSlot(region, id), Body: None,
			Loop: None, Previous: previous, Ranked: None})
		g.Nodes[id].Always = n.TriggerRule == ir.Always || parent != None && g.Nodes[parent].Always
		inner := region
		if n.ForEach != nil {
			inner = g.addRegion(id)
			g.Nodes[id].Body = inner
			g.Nodes[id].WhenPerInstance = n.When != nil && readsRoot(n.When, "each")
		}
		if n.Repeat != nil {
			inner = g.addRegion(id)
			g.Nodes[id].Loop = inner
		}
		g.Nodes[id].Inner = inner
		switch {
		case n.Priority != nil:
			g.Nodes[id].Ranked = id
		case parent != None:
			g.Nodes[id].Ranked = g.Nodes[parent].Ranked
		}
		for j := range n.Require {
			q := &n.Require[j]
			g.Nodes[id].Requires = append(g.Nodes[id].Requires, Require{q, n.ForEach != nil && readsRoot(&q.Condition, "each")})
		}
		g.Nodes[id].Below = g.addNodes(n.Children, id, inner, n.Kind == ir.Sequence)
		if ordered {
			previous = id
		}
	}
	return numbers
}

// addRegion makes a node's own region, with the node in slot 0.
func (g *Graph) addRegion(owner int) int {
	g.Regions = append(g.Regions, Region{Owner: owner})
	g.takeSlot(len(g.Regions)-1, owner)
	return len(g.Regions) - 1
}

// takeSlot puts a node into the next slot of a region.
func (g *Graph) takeSlot(region, id int) int {
	r := &g.Regions[region]
	r.Nodes = append(r.Nodes, id)
	return len(r.Nodes) - 1
}

// readsRoot reports whether an expression reads a name with this root.
func readsRoot(e *ir.Expr, root string) bool {
	for _, r := range e.Reads {
		if r.Root == root {
			return true
		}
	}
	return false
}

// resolveNames finds the nodes, agents and gates that the nodes name.
func (g *Graph) resolveNames() error {
	agents, gates := map[string]*ir.Agent{}, map[string]*ir.Gate{}
	for i := range g.Program.Agents {
		agents[g.Program.Agents[i].Name] = &g.Program.Agents[i]
	}
	pools, err := g.makePools(agents)
	if err != nil {
		return err
	}
	for i := range g.Program.Gates {
		gates[g.Program.Gates[i].Name] = &g.Program.Gates[i]
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if err := g.addAwaits(n); err != nil {
			return err
		}
		if err := ir.CheckAction(n.Node); err != nil {
			return fmt.Errorf("plan: %w", err)
		}
		if n.Escalate != "" {
			of := g.Program.Escalation(n.Escalate)
			if of == nil {
				return fmt.Errorf("plan: node %q has no escalation %q", n.Name, n.Escalate)
			}
			n.Escalation = &Escalation{Escalation: of, To: make([]*Assignee, len(of.Levels))}
		}
		if task, ok := n.Action.(*ir.AgentTask); ok {
			resolve := func(a *ir.Assignee) (*Assignee, error) {
				return resolveAssignee(n, a, task.Capabilities, agents, pools)
			}
			if n.Own, err = resolve(&task.Assignee); err != nil {
				return err
			}
			if task.If != nil && task.Else != nil {
				if n.Else, err = resolve(task.Else); err != nil {
					return err
				}
			}
			for i := range n.Node.Fallback {
				other, err := resolve(&n.Node.Fallback[i])
				if err != nil {
					return err
				}
				n.Others = append(n.Others, other)
			}
			for i := range n.To() {
				if to := n.Escalation.Levels[i].Reassign; to != nil { // one without the capabilities of the step cannot take it over
					n.Escalation.To[i], _ = resolve(to)
				}
			}
		}
		for _, name := range n.Node.Gates {
			gate := gates[name]
			if gate == nil {
				return fmt.Errorf("plan: node %q has no gate %q", n.Name, name)
			}
			n.Gates = append(n.Gates, gate)
			if gate.Review == nil || g.Judges[gate] != nil {
				continue
			}
			judge, err := resolveAssignee(n, &gate.Review.Assignee, nil, agents, pools)
			if err != nil {
				return err
			}
			if g.Judges == nil {
				g.Judges = map[*ir.Gate]*Assignee{}
			}
			g.Judges[gate] = judge
		}
	}
	for i := range g.Workflow.Inputs {
		in := &g.Workflow.Inputs[i]
		for _, name := range in.Gates {
			if gates[name] == nil {
				return fmt.Errorf("plan: input %q has no gate %q", in.Name, name)
			}
			g.InputGates = append(g.InputGates, InputGate{in.Name, gates[name]})
		}
	}
	for i := range g.Nodes {
		for _, a := range g.Nodes[i].Awaits {
			if on := &g.Nodes[a.Node]; on.Region == g.Nodes[i].Region {
				on.Awaited = append(on.Awaited, Await{Node: i, Needs: a.Needs})
			}
		}
	}
	return nil
}

// makePools finds the agents of the pools.
func (g *Graph) makePools(agents map[string]*ir.Agent) (map[string]*Pool, error) {
	pools := map[string]*Pool{}
	for i := range g.Program.Pools {
		p := &Pool{Pool: &g.Program.Pools[i]}
		for _, name := range p.Pool.Members {
			if agents[name] == nil {
				return nil, fmt.Errorf("plan: pool %q has no agent %q", p.Name, name)
			}
			p.Members = append(p.Members, agents[name])
		}
		if len(p.Members) == 0 {
			return nil, fmt.Errorf("plan: pool %q has no members", p.Name)
		}
		g.Pools, pools[p.Name] = append(g.Pools, p), p
	}
	return pools, nil
}

// resolveAssignee finds who may do the task of a node.
func resolveAssignee(n *Node, a *ir.Assignee, wanted []string, agents map[string]*ir.Agent, pools map[string]*Pool) (*Assignee, error) {
	out := &Assignee{Member: a.Member, Wanted: len(wanted)}
	all := []*ir.Agent{agents[a.Agent]}
	if out.Agent = agents[a.Agent]; a.Pool != "" {
		if out.Pool = pools[a.Pool]; out.Pool == nil {
			return nil, fmt.Errorf("plan: node %q has no pool %q", n.Name, a.Pool)
		}
		all = out.Pool.Members
	} else if out.Agent == nil {
		return nil, fmt.Errorf("plan: node %q has no agent %q", n.Name, a.Agent)
	}
	for _, g := range all {
		if hasAll(g.Capabilities, wanted) {
			out.Members = append(out.Members, g)
		}
	}
	if len(out.Members) == 0 {
		return nil, fmt.Errorf("plan: node %q asks for capabilities that no member of %s has", n.Name, out.Name())
	}
	return out, nil
}

func hasAll(list, wanted []string) bool {
	return !slices.ContainsFunc(wanted, func(w string) bool { return !slices.Contains(list, w) })
}

// topOf returns the node at the top of the workflow, or of its finally block, around a node.
func (g *Graph) topOf(n int) int {
	for g.Nodes[n].Parent != None {
		n = g.Nodes[n].Parent
	}
	return n
}

// addAwaits collects a node's edges. For the sibling before in a sequence, the file's own edge
// replaces the edge of the order. The nodes of finally run one after the other after all other nodes,
// so they wait for no node outside of finally.
func (g *Graph) addAwaits(n *Node) error {
	edges := map[int]bool{}
	if n.Previous != None {
		edges[n.Previous] = true
	}
	for _, list := range []struct {
		names []string
		needs bool
	}{{n.Observes, false}, {n.Needs, true}} {
		for _, name := range list.names {
			on, ok := g.numbers[name]
			if !ok {
				return fmt.Errorf("plan: node %q waits for %q, which is not there", n.Name, name)
			}
			edges[on] = list.needs
		}
	}
	final := len(g.Finally) > 0 && n.Number >= g.Finally[0]
	for on, needs := range edges { // any order: they are sorted next
		if final && g.topOf(on) != g.topOf(n.Number) {
			continue
		}
		n.Awaits = append(n.Awaits, Await{Node: on, Needs: needs})
	}
	slices.SortFunc(n.Awaits, func(a, b Await) int { return a.Node - b.Node })
	return nil
}

// Number returns the number of a node by its name, or None.
func (g *Graph) Number(name string) int {
	if n, ok := g.numbers[name]; ok {
		return n
	}
	return None
}

// Local returns the expression of a local, or nil.
func (g *Graph) Local(name string) *ir.Expr { return g.locals[name] }

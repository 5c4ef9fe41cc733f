// Package plan turns one workflow of a program into the dense graph that the machine runs: nodes by number, regions,
// resolved dependencies.
//
// A region is what is made once per activation: region 0 is the run itself, and every node with for_each or repeat owns a
// region that holds the node (as an instance, or as an iteration) and all below it that has no region of its own. Such a
// node so appears twice, or three times if it has both: in its parent's region as the collector that makes instances and
// gathers their outputs, in slot 0 of the region of its instances as the repeater that makes iterations one after the
// other, and in slot 0 of the region of its iterations. A frame, in the machine, is one activation of a region: a slice
// of states by slot.
//
// A graph is immutable and safe to share. What is far from the end of a run is found by [Graph.Left], from durations that are
// handed in. The package does no I/O and knows no machine. Enter at [Build].
package plan

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
)

// None stands for "no node" and "no region".
const None = -1

// Graph is a workflow ready to run.
type Graph struct {
	Program  *ir.Program
	Workflow *ir.Workflow
	Nodes    []Node // by number, parents before children, in file order
	Top      []int  // the nodes directly in the workflow
	Finally  []int  // those of its finally block
	Regions  []Region

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
	Region   int // where its state lives; of a node with for_each or repeat, that of the whole
	Slot     int // its place in frames of that region
	Body     int // the region of its instances; None without for_each
	Loop     int // the region of its iterations; None without repeat
	Inner    int // the innermost of Region, Body and Loop: where it does its work, and its children live
	Below    []int
	Previous int // the sibling before in a sequence, or None
	// Awaits are the nodes whose end this one waits for, in order of their numbers.
	Awaits []Await
	// Awaited are the nodes of the same region that wait for this one.
	Awaited []Await
	Agent   *ir.Agent
	Else    *ir.Agent // who has the task where the file chooses, and not Agent
	Gates   []*ir.Gate
	// WhenPerInstance tells that the condition reads each, so that it is asked for every instance.
	WhenPerInstance bool
	// Always tells that a stop of the run neither ends the node nor keeps it from starting: its rule, or that of a group
	// around it, is "always".
	Always bool
	// Others are the agents that are asked after Agent, in order.
	Others []*ir.Agent
	// Requires are the conditions that must hold before it starts.
	Requires []Require
	// Ranked is the nearest node, from this one outwards, that has a priority; None if there is none.
	Ranked int
}

// Require is a condition of a node; one that reads each is asked for every instance.
type Require struct {
	*ir.Require
	PerInstance bool
}

// Joins tells whether the node says itself when it has enough of its children or instances.
func (n *Node) Joins() bool { return n.Join != nil || n.Losers != "" }

// Await is one edge. Needs tells that the node must not have failed; otherwise its end is all that counts.
type Await struct {
	Node  int
	Needs bool
}

// Build makes the graph of a workflow. Errors mean that the program was not checked: files are never at fault here.
func Build(p *ir.Program, workflow string) (*Graph, error) {
	w := p.Workflow(workflow)
	if w == nil {
		return nil, fmt.Errorf("plan: no workflow %q in the program", workflow)
	}
	g := &Graph{Program: p, Workflow: w, numbers: map[string]int{}, locals: map[string]*ir.Expr{}, Regions: []Region{{Owner: None}}}
	for i := range p.Locals {
		g.locals[p.Locals[i].Name] = &p.Locals[i].Expr
	}
	g.Top = g.add(w.Nodes, None, 0, false)
	if w.Finally != nil {
		g.Finally = g.add(w.Finally.Nodes, None, 0, false)
	}
	if err := g.resolve(); err != nil {
		return nil, err
	}
	return g, nil
}

// add numbers the nodes of one body and those below.
func (g *Graph) add(nodes []ir.Node, parent, region int, ordered bool) []int {
	numbers := make([]int, len(nodes))
	previous := None
	for i := range nodes {
		n := &nodes[i]
		id := len(g.Nodes)
		numbers[i], g.numbers[n.Name] = id, id
		g.Nodes = append(g.Nodes, Node{Node: n, Number: id, Parent: parent, Region: region, Slot: g.place(region, id), Body: None,
			Loop: None, Previous: previous, Ranked: None})
		g.Nodes[id].Always = n.TriggerRule == ir.Always || parent != None && g.Nodes[parent].Always
		inner := region
		if n.ForEach != nil {
			inner = g.region(id)
			g.Nodes[id].Body = inner
			g.Nodes[id].WhenPerInstance = n.When != nil && reads(n.When, "each")
		}
		if n.Repeat != nil {
			inner = g.region(id)
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
			g.Nodes[id].Requires = append(g.Nodes[id].Requires, Require{q, n.ForEach != nil && reads(&q.Condition, "each")})
		}
		g.Nodes[id].Below = g.add(n.Children, id, inner, n.Kind == ir.Sequence)
		if ordered {
			previous = id
		}
	}
	return numbers
}

// region makes a region of a node's own, with the node in slot 0.
func (g *Graph) region(owner int) int {
	g.Regions = append(g.Regions, Region{Owner: owner})
	g.place(len(g.Regions)-1, owner)
	return len(g.Regions) - 1
}

func (g *Graph) place(region, id int) int {
	r := &g.Regions[region]
	r.Nodes = append(r.Nodes, id)
	return len(r.Nodes) - 1
}

func reads(e *ir.Expr, root string) bool {
	for _, r := range e.Reads {
		if r.Root == root {
			return true
		}
	}
	return false
}

func (g *Graph) resolve() error {
	agents, gates := map[string]*ir.Agent{}, map[string]*ir.Gate{}
	for i := range g.Program.Agents {
		agents[g.Program.Agents[i].Name] = &g.Program.Agents[i]
	}
	for i := range g.Program.Gates {
		gates[g.Program.Gates[i].Name] = &g.Program.Gates[i]
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if err := g.awaits(n); err != nil {
			return err
		}
		if err := ir.CheckAction(n.Node); err != nil {
			return fmt.Errorf("plan: %w", err)
		}
		if task, ok := n.Action.(*ir.AgentTask); ok {
			if n.Agent = agents[task.Agent]; n.Agent == nil {
				return fmt.Errorf("plan: node %q has no agent %q", n.Name, task.Agent)
			}
			if task.If != nil {
				if n.Else = agents[task.Else]; n.Else == nil {
					return fmt.Errorf("plan: node %q has no agent %q", n.Name, task.Else)
				}
			}
		}
		for _, name := range n.Node.Fallback {
			if agents[name] == nil {
				return fmt.Errorf("plan: node %q has no agent %q to fall back to", n.Name, name)
			}
			n.Others = append(n.Others, agents[name])
		}
		for _, name := range n.Node.Gates {
			if gates[name] == nil {
				return fmt.Errorf("plan: node %q has no gate %q", n.Name, name)
			}
			n.Gates = append(n.Gates, gates[name])
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

// top is the node at the top of the workflow, or of its finally block, that a node lies in.
func (g *Graph) top(n int) int {
	for g.Nodes[n].Parent != None {
		n = g.Nodes[n].Parent
	}
	return n
}

// awaits collects a node's edges. What the file says of the sibling before in a sequence outweighs the order's own need.
// The nodes of finally run one after the other when all else has ended, so that they wait for nothing outside of themselves.
func (g *Graph) awaits(n *Node) error {
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
		if final && g.top(on) != g.top(n.Number) {
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

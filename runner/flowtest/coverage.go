package flowtest

import (
	"strconv"

	"github.com/flowrun/flowrun/dsl/ir"
)

// PointKind says what sort of point of a workflow a test can reach.
type PointKind string

// The kinds of points.
const (
	NodePoint  PointKind = "node"  // a node that started
	CasePoint  PointKind = "case"  // a case of a switch that was taken
	GatePoint  PointKind = "gate"  // a gate that was asked
	LevelPoint PointKind = "level" // a level of an escalation that a node has come to

	SourcePoint PointKind = "source" // a source of a loop of which an item was taken
	AgentPoint  PointKind = "agent"  // an agent of a loop that has taken an item
)

// Point is a part of a workflow or of a loop that tests can reach.
type Point struct {
	Workflow string // or the loop
	Kind     PointKind
	// Name is that of the node, the source or the agent; SWITCH/N of the Nth case of a switch, from 1, the default being the last; STEP/GATE of a gate; NODE/LEVEL of a level.
	Name string
}

// Coverage counts for each point of a program how many tests reached it.
type Coverage struct {
	Points []Point // of workflows in file order
	Hits   []int   // by point
	at     map[Point]int
}

// NewCoverage lists the points of a program, those of its loops behind those of its workflows.
func NewCoverage(p *ir.Program) *Coverage {
	c := &Coverage{at: map[Point]int{}}
	for i := range p.Workflows {
		w := &p.Workflows[i]
		c.addNodes(p, w.Name, w.Nodes)
		if w.Finally != nil {
			c.addNodes(p, w.Name, w.Finally.Nodes)
		}
	}
	for i := range p.Loops {
		l := &p.Loops[i]
		for k := range l.Sources {
			c.add(Point{l.Name, SourcePoint, l.Sources[k].Name})
		}
		for _, name := range l.Agents {
			c.add(Point{l.Name, AgentPoint, name})
		}
	}
	c.Hits = make([]int, len(c.Points))
	return c
}

func (c *Coverage) add(p Point) {
	c.at[p] = len(c.Points)
	c.Points = append(c.Points, p)
}

func (c *Coverage) addNodes(p *ir.Program, workflow string, nodes []ir.Node) {
	for i := range nodes {
		n := &nodes[i]
		c.add(Point{workflow, NodePoint, n.Name})
		for _, g := range n.Gates {
			c.add(Point{workflow, GatePoint, n.Name + "/" + gateOf(g)})
		}
		for k := range n.Cases {
			c.add(Point{workflow, CasePoint, caseName(n.Name, k+1)})
		}
		if of := p.Escalation(n.Escalate); of != nil {
			for k := range of.Levels {
				c.add(Point{workflow, LevelPoint, n.Name + "/" + of.Levels[k].Name})
			}
		}
		c.addNodes(p, workflow, n.Children)
	}
}

func caseName(node string, n int) string { return node + "/" + strconv.Itoa(n) }

// Add counts the points that a test reached.
func (c *Coverage) Add(r *Result) {
	for p := range r.Reached { // any order: they are counted
		if i, known := c.at[p]; known {
			c.Hits[i]++
		}
	}
}

// Missed are the points that no test reached.
func (c *Coverage) Missed() (out []Point) {
	for i, p := range c.Points {
		if c.Hits[i] == 0 {
			out = append(out, p)
		}
	}
	return out
}

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
)

// Point is a part of a workflow that tests can reach.
type Point struct {
	Workflow string
	Kind     PointKind
	// Name is that of the node; SWITCH/N of the Nth case of a switch, from 1, the default being the last; STEP/GATE of a gate; NODE/LEVEL of a level.
	Name string
}

// Coverage counts for each point of a program how many tests reached it.
type Coverage struct {
	Points []Point // in file order
	Hits   []int   // by point
	at     map[Point]int
}

// NewCoverage lists the points of a program.
func NewCoverage(p *ir.Program) *Coverage {
	c := &Coverage{at: map[Point]int{}}
	for i := range p.Workflows {
		w := &p.Workflows[i]
		c.addNodes(p, w.Name, w.Nodes)
		if w.Finally != nil {
			c.addNodes(p, w.Name, w.Finally.Nodes)
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

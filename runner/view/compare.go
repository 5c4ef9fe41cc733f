package view

import (
	"bytes"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Comparison is what two runs differ in.
type Comparison struct {
	A RunSide `json:"a"`
	B RunSide `json:"b"`
	// Definition says how the program of B differs from that of A.
	Definition ir.Difference `json:"definition"`
	// Inputs are the names of the inputs that differ, sorted.
	Inputs []string `json:"inputs"`
	// Nodes are those that differ, or all of them if that was asked for: in the order of B, those that A alone has last.
	Nodes []NodePair `json:"nodes"`
	Alike int        `json:"alike"` // how many nodes do not differ
}

// RunSide is one of two runs.
type RunSide struct {
	Run        string       `json:"run"`
	Workflow   string       `json:"workflow"`
	Status     event.Status `json:"status"`
	StartedAt  Moment       `json:"started_at"`
	FinishedAt Moment       `json:"finished_at"`
	Seconds    *float64     `json:"seconds"` // null before the end
}

// NodePair is a node in two runs. A side is null where the run has no such node.
type NodePair struct {
	ID      string    `json:"id"`
	Differs []Aspect  `json:"differs"`
	A       *NodeSide `json:"a"`
	B       *NodeSide `json:"b"`
}

// NodeSide is a node in one of two runs.
type NodeSide struct {
	Status   event.Status `json:"status"`
	Attempts int          `json:"attempts"`
	Seconds  *float64     `json:"seconds"` // null before the end, and for a node that did not start
	Output   Data         `json:"output"`
	Error    *event.Error `json:"error"`
}

// Aspect is what a node differs in.
type Aspect string

// The aspects. A duration differs by a second and by half at least. A node's definition is that of the file, without the groups around it.
const (
	DiffersOnly       Aspect = "only" // one run alone has the node
	DiffersStatus     Aspect = "status"
	DiffersDuration   Aspect = "duration"
	DiffersAttempts   Aspect = "attempts"
	DiffersOutput     Aspect = "output"
	DiffersError      Aspect = "error"
	DiffersDefinition Aspect = "definition"
)

// Compare says what two runs differ in. d is the difference of their programs. With all it lists the nodes that do not differ, too.
func Compare(a, b *Document, d ir.Difference, all bool) Comparison {
	c := Comparison{A: a.side(), B: b.side(), Definition: d, Inputs: differing(a.Inputs, b.Inputs), Nodes: []NodePair{}}
	changed := map[string]bool{}
	for _, x := range d.Nodes {
		if x.What == ir.Altered {
			changed[Base(x.Name)] = true
		}
	}
	before := make(map[string]*NodeDoc, len(a.Nodes))
	for i := range a.Nodes {
		before[a.Nodes[i].ID] = &a.Nodes[i]
	}
	add := func(id string, x, y *NodeDoc) {
		p := NodePair{ID: id, A: x.side(), B: y.side()}
		if p.Differs = p.aspects(); changed[Base(id)] {
			p.Differs = append(p.Differs, DiffersDefinition)
		}
		if len(p.Differs) == 0 {
			c.Alike++
		}
		if all || len(p.Differs) > 0 {
			c.Nodes = append(c.Nodes, p)
		}
	}
	for i := range b.Nodes {
		n := &b.Nodes[i]
		add(n.ID, before[n.ID], n)
		delete(before, n.ID)
	}
	for i := range a.Nodes {
		if n := &a.Nodes[i]; before[n.ID] != nil {
			add(n.ID, n, nil)
		}
	}
	return c
}

func (d *Document) side() RunSide {
	return RunSide{d.Run, d.Workflow, d.Status, d.StartedAt, d.FinishedAt, seconds(d.StartedAt, d.FinishedAt)}
}

func (n *NodeDoc) side() *NodeSide {
	if n == nil {
		return nil
	}
	return &NodeSide{n.Status, n.Attempts, seconds(n.StartedAt, n.FinishedAt), n.Output, n.Error}
}

// seconds is the time between two moments; nil where one is missing.
func seconds(from, to Moment) *float64 {
	if from == 0 || to == 0 {
		return nil
	}
	s := event.Time(to).Sub(event.Time(from)).Seconds()
	return &s
}

func (p *NodePair) aspects() []Aspect {
	list := []Aspect{}
	a, b := p.A, p.B
	if a == nil || b == nil {
		return append(list, DiffersOnly)
	}
	add := func(differs bool, what Aspect) {
		if differs {
			list = append(list, what)
		}
	}
	add(a.Status != b.Status, DiffersStatus)
	add(isFar(a.Seconds, b.Seconds), DiffersDuration)
	add(a.Attempts != b.Attempts, DiffersAttempts)
	add(!equal(a.Output.Shown(), b.Output.Shown()), DiffersOutput)
	add((a.Error == nil) != (b.Error == nil) || a.Error != nil && a.Error.Message != b.Error.Message, DiffersError)
	return list
}

// isFar reports whether durations differ by a second and by half of the shorter one at least.
func isFar(a, b *float64) bool {
	if a == nil || b == nil {
		return false // the status says why
	}
	low, high := min(*a, *b), max(*a, *b)
	return high-low >= time.Second.Seconds() && high >= 1.5*low
}

func equal(a, b value.Value) bool { return bytes.Equal(value.Append(nil, a), value.Append(nil, b)) }

// differing are the names of the members that two objects differ in, sorted.
func differing(a, b Data) []string {
	x, _ := a.Value.(map[string]any)
	y, _ := b.Value.(map[string]any)
	list := []string{}
	for _, name := range value.Keys(x) {
		if other, has := y[name]; !has || !equal(x[name], other) {
			list = append(list, name)
		}
	}
	for _, name := range value.Keys(y) {
		if _, has := x[name]; !has {
			list = append(list, name)
		}
	}
	return list
}

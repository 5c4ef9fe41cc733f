// Package graph draws a workflow: its nodes, the groups they lie in, what waits for what, and, for a run, how far each came.
//
// A [Graph] is computed from the core form of a workflow ([Of]) and can take the states of a run ([Graph.Show], a fold of
// runner/view). It has four forms: [Graph.SVG] is a picture of our own layered layout, [Graph.Mermaid] and [Graph.DOT] are
// texts for other programs, and its JSON is the model itself.
//
// The layout ranks the nodes of each group by their longest chain of waits, so that a row is what can run at once, orders
// each row by the middle of its neighbours, and draws edges only through the gaps between rows and the free columns in
// them: an edge never crosses a box. Groups are laid out on their own and then stand in the group around them as one box;
// edges that cross a group's border do so at a port, which is a node of no size in its first or last row.
//
// The package is pure: it knows neither files nor terminals. What holds always: the same graph gives the same bytes; all
// text in a drawing is escaped, and a drawing holds no script and fetches nothing.
package graph

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// Graph is a workflow as a drawing shows it. Its JSON is an interface: fields are added, never renamed.
type Graph struct {
	Workflow    string       `json:"workflow"`
	Description string       `json:"description,omitempty"`
	Run         string       `json:"run,omitempty"`    // the run whose states are shown
	Status      event.Status `json:"status,omitempty"` // of that run
	Driven      *bool        `json:"driven,omitempty"` // whether a process drives it now
	// Bounds say what bounds the whole run: its budget, the quotas that it holds, and its rules of adapt.
	Bounds []string `json:"bounds,omitempty"`
	// Starts say what starts the workflow by itself. The caller of [Of] sets them, from the function Starts.
	Starts  []string `json:"starts,omitempty"`
	Excerpt string   `json:"excerpt,omitempty"` // which part of the workflow this is: 7 of 300 nodes, within 1 of build
	Nodes   []Node   `json:"nodes"`             // in file order, groups before what lies in them
	Edges   []Edge   `json:"edges"`             // by To, then by From, in the order of Nodes

	word string // the run's status, as people read it
}

// Kinds of nodes that are not kinds of the core form.
const (
	Case    = "case"    // one way of a switch; its ID is SWITCH#N
	Finally = "finally" // what runs last; its ID is #finally
)

// Node is a step or a group.
type Node struct {
	ID     string `json:"id"` // unique; the name, for what has one
	Parent string `json:"parent,omitempty"`
	Kind   string `json:"kind"`
	// Pattern is the pattern that the file has in place of the node: feedback, consensus or compete. Drawings name it in place of the kind.
	Pattern string `json:"pattern,omitempty"`
	Title   string `json:"title"`
	// Description is the description of the node in the file.
	Description string `json:"description,omitempty"`
	// Does is the action of a step in a few words: run go vet ./..., agent reviewer.
	Does string `json:"does,omitempty"`
	// Marks say what else decides whether, how often and how it runs: when …, for each …, at most 3 times.
	Marks []string `json:"marks,omitempty"`
	State *State   `json:"state,omitempty"`

	parent int // in Nodes; -1 at the top
	below  []int
	// signs stand behind the title in a drawing, each for one of the marks in shared. The note of the drawing explains them.
	signs  string
	shared []string
}

// word is what the author wrote: a pattern or a kind.
func (n *Node) word() string { return cmp.Or(n.Pattern, n.Kind) }

// EdgeKind says what an edge waits for.
type EdgeKind string

// The kinds of edges.
const (
	Needs    EdgeKind = "needs"    // success, or what its trigger rule asks for
	Observes EdgeKind = "observes" // the end, whatever the end
	Sequence EdgeKind = "sequence" // its turn
)

// Edge tells that To waits for From.
type Edge struct {
	From string   `json:"from"`
	To   string   `json:"to"`
	Kind EdgeKind `json:"kind"`

	from, to int
}

// Of makes the graph of a workflow.
func Of(w *ir.Workflow) *Graph {
	b := &builder{g: &Graph{Workflow: w.Name, Description: w.Description, Nodes: []Node{}, Edges: []Edge{}}, number: map[string]int{}}
	if w.Budget != nil {
		b.g.Bounds = append(b.g.Bounds, "at most "+bounds(w.Budget)+" in all")
	}
	for i := range w.Quotas {
		b.g.Bounds = append(b.g.Bounds, quotaWords(&w.Quotas[i]))
	}
	b.g.Bounds = append(b.g.Bounds, rules(w.Adapt)...)
	b.nodes(w.Nodes, -1, false)
	if w.Finally != nil {
		b.nodes(w.Finally.Nodes, b.add(Node{ID: "#finally", Kind: Finally, Title: "finally"}, -1), true)
	}
	for i := range b.waits {
		b.edges(&b.waits[i])
	}
	return b.g
}

// Mark adds words to what is said of a node, or of the whole run (node ""). A node that the graph does not have gets none.
func (g *Graph) Mark(node, words string) {
	if node == "" {
		g.Bounds = append(g.Bounds, words)
	}
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.ID == node {
			n.Marks = append(n.Marks, words)
		}
	}
}

type builder struct {
	g      *Graph
	number map[string]int // of a node, by its name
	waits  []wait
}

// wait is a node with the sibling whose turn is before, or -1.
type wait struct {
	*ir.Node
	number, previous int
}

func (b *builder) add(n Node, parent int) int {
	id := len(b.g.Nodes)
	if n.parent = parent; parent >= 0 {
		p := &b.g.Nodes[parent]
		n.Parent, p.below = p.ID, append(p.below, id)
	}
	b.g.Nodes = append(b.g.Nodes, n)
	return id
}

// nodes adds the nodes of one body and those below; ordered ones take turns.
func (b *builder) nodes(list []ir.Node, parent int, ordered bool) {
	previous := -1
	for i := range list {
		n := &list[i]
		id := b.add(Node{ID: n.Name, Kind: string(n.Kind), Pattern: n.Pattern, Title: n.Name, Description: n.Description, Does: does(n), Marks: marks(n)}, parent)
		b.number[n.Name] = id
		b.waits = append(b.waits, wait{n, id, previous})
		if ordered {
			previous = id
		}
		if n.Kind != ir.Switch {
			b.nodes(n.Children, id, n.Kind == ir.Sequence)
			continue
		}
		for c := range n.Cases {
			b.nodes(inCase(n.Children, c+1), b.add(caseOf(n, c), id), false)
		}
	}
}

// caseOf is the node that stands for one way of a switch.
func caseOf(n *ir.Node, c int) Node {
	title := "default"
	if when := n.Cases[c].When; when != nil {
		title = "when " + when.Text
	}
	return Node{ID: fmt.Sprintf("%s#%d", n.Name, c+1), Kind: Case, Title: title}
}

func inCase(nodes []ir.Node, c int) (out []ir.Node) {
	for i := range nodes {
		if nodes[i].Case == c {
			out = append(out, nodes[i])
		}
	}
	return out
}

// edges adds what a node waits for, in the order of the nodes.
func (b *builder) edges(w *wait) {
	kinds := map[int]EdgeKind{}
	if w.previous >= 0 {
		kinds[w.previous] = Sequence
	}
	for _, name := range w.Observes {
		if from, ok := b.number[name]; ok {
			kinds[from] = Observes
		}
	}
	for _, name := range w.Needs {
		if from, ok := b.number[name]; ok {
			kinds[from] = Needs
		}
	}
	for _, from := range slices.Sorted(maps.Keys(kinds)) {
		b.g.Edges = append(b.g.Edges, Edge{b.g.Nodes[from].ID, b.g.Nodes[w.number].ID, kinds[from], from, w.number})
	}
}

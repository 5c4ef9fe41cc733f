package graph

// item is one thing in the layout of a group: a box, a port at the group's border, or a bend of an edge in a row that it
// passes. All measures are pixels, x and y those of its upper left corner in the group.
type item struct {
	node          int // in Graph.Nodes; -1 for ports and bends
	width, height int
	rank, place   int // the row, and the place in it
	x, y          int
	up, down      []*link
	kind          itemKind
	inner         *level // of a group
	chars         int    // of a line of its text, at most
	textAt        int    // of a group: where its text begins, in pixels from its left
}

type itemKind uint8

const (
	box  itemKind = iota
	in            // a port in the group's upper border
	out           // a port in its lower border
	bend          // of an edge
	last          // a box that stands below all others
)

// link goes down from one item to another; behind [level.bends] to one in the next row.
type link struct {
	from, to *item
	// fromPort and toPort are the ports of the groups at both ends; nil where the link is to the box itself.
	fromPort, toPort *item
	// fromAt and toAt say where the link ends, in pixels from the left of its boxes.
	fromAt, toAt int
	kind         EdgeKind
	head         int8 // where the arrow is: 1 at the lower end, -1 at the upper, 0 nowhere
}

// level is the layout of one group, or of the workflow.
type level struct {
	items []*item // boxes in file order, then ports and bends
	links []*link
	rows  [][]*item
	wraps bool // boxes without links stand in several rows
	ports map[port]*item
	// tops and bottoms are the upper and lower edges of the rows.
	tops, bottoms []int
	width, height int
	// left and head are the room in the group's box beside and above all this.
	left, head int
}

// port is a place in a group's border: the item inside that its links come from or go to, on which side.
type port struct {
	node int
	kind itemKind
}

// Bounds of a drawing.
const (
	MaxDrawnNodes = 2_000  // nodes
	MaxDrawnEdges = 10_000 // edges
	MaxBends      = 50_000 // rows that edges pass, in one group
)

package plan

import (
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
)

// MaxLeft bounds the expected time from a node to the end of the run, in microseconds: 285 years,
// which a time.Duration can just hold.
const MaxLeft = 1 << 53

// Left computes, for each node by number, the longest expected way from its start to the end of the
// run, in microseconds: its own duration, and then the longest chain of nodes that wait for it, through
// groups. It computes with whole numbers, so that every computer gets the same result.
//
// us is the duration of one execution of a node, in microseconds, by the node's name. A node that acts
// and is missing there takes the usual duration of the others ([Usual]). times is the number of all
// executions of a node, if that is not 1. Left assumes that the instances of a for_each share the run's
// slots; the way of an instance is that of this one instance. The cost is linear in nodes and edges,
// except for the sorting of us.
func (g *Graph) Left(us map[string]int64, times map[string]int, slots int) []int64 {
	return g.computeWays(us, times, slots).start
}

// computeWays computes the ways of all nodes.
func (g *Graph) computeWays(us map[string]int64, times map[string]int, slots int) *left {
	l := &left{g: g, us: us, times: times, slots: int64(max(slots, 1)), usual: Usual(us),
		start: fillUnknown(len(g.Nodes)), end: fillUnknown(len(g.Nodes)), waiters: make([][]int, len(g.Nodes))}
	for n := range g.Nodes {
		for _, a := range g.Nodes[n].Awaits {
			l.waiters[a.Node] = append(l.waiters[a.Node], n)
		}
	}
	for n := range g.Nodes {
		l.wayOfOne(n)
	}
	return l
}

// Acts reports whether a node takes time of its own.
func (n *Node) Acts() bool { return n.Kind == ir.Step && n.Action.Kind().Course() != ir.Computed }

// left computes the ways of the nodes of a graph.
type left struct {
	g     *Graph
	us    map[string]int64
	times map[string]int
	slots int64
	usual int64
	// start and end are the ways from the start of one execution of a node, and from its end, to the
	// end of the run; -1: not computed yet.
	start, end []int64
	waiters    [][]int // by node: all that wait for it, in inner regions too
}

func fillUnknown(n int) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = -1
	}
	return list
}

// Usual returns the median of known durations, in microseconds: the expected duration of a node
// without a known one. Of an even number of durations it takes the upper of the two in the middle. It
// returns 0 if none is known.
func Usual(us map[string]int64) int64 {
	if len(us) == 0 {
		return 0
	}
	list := make([]int64, 0, len(us))
	for _, v := range us { // any order: they are sorted next
		list = append(list, v)
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// wayOfOne returns the way from the start of one execution of a node: of one instance, in one
// iteration.
func (l *left) wayOfOne(n int) int64 {
	if l.start[n] >= 0 {
		return l.start[n]
	}
	node, after := &l.g.Nodes[n], l.wayAfter(n)
	way := after
	if node.Acts() {
		own, known := l.us[node.Name]
		if !known {
			own = l.usual
		}
		way = after + min(max(own, 0), MaxLeft)
	}
	for _, child := range node.Below {
		way = max(way, l.wayOfAll(child))
	}
	l.start[n] = min(way, MaxLeft)
	return l.start[n]
}

// wayAfter returns the way from the end of a node, through the nodes that wait for it or for its group.
func (l *left) wayAfter(n int) int64 {
	if l.end[n] >= 0 {
		return l.end[n]
	}
	node, way := &l.g.Nodes[n], int64(0)
	if node.Parent != None {
		way = l.wayAfter(node.Parent)
	}
	for _, m := range l.waiters[n] {
		way = max(way, l.wayThrough(m, n))
	}
	l.end[n] = way
	return way
}

// wayOfAll returns the way from the start of a node with all its instances and iterations.
func (l *left) wayOfAll(n int) int64 { return l.scaleWay(n, l.wayOfOne(n)) }

// wayThrough returns the way from the end of a node through m, which waits for it and may lie deeper.
func (l *left) wayThrough(m, from int) int64 {
	way := l.wayOfAll(m)
	for p := l.g.Nodes[m].Parent; p != None && !l.g.encloses(p, from); p = l.g.Nodes[p].Parent {
		way = l.scaleWay(p, way)
	}
	return way
}

// encloses reports whether a group is, or lies around, a node.
func (g *Graph) encloses(group, n int) bool {
	for n != None && n != group {
		n = g.Nodes[n].Parent
	}
	return n == group
}

// scaleWay turns the way of one execution of a node into the way of all of them.
func (l *left) scaleWay(n int, way int64) int64 {
	node := &l.g.Nodes[n]
	if !node.ownsRegion() {
		return way
	}
	rounds, around := int64(l.countExecutions(n)), int64(1)
	for p := node.Parent; p != None; p = l.g.Nodes[p].Parent {
		if l.g.Nodes[p].ownsRegion() {
			around = int64(l.countExecutions(p))
			break
		}
	}
	if node.ForEach != nil {
		around *= l.slots
	}
	if rounds <= around {
		return way
	}
	after := l.wayAfter(n)
	return min(after+min(way-after, MaxLeft/rounds)*rounds/around, MaxLeft)
}

// ownsRegion reports whether a node can be executed more than once.
func (n *Node) ownsRegion() bool { return n.ForEach != nil || n.Repeat != nil }

// countExecutions returns how often a node is executed, at least 1.
func (l *left) countExecutions(n int) int { return max(l.times[l.g.Nodes[n].Name], 1) }

// Chain returns a longest chain of steps that wait for each other, by their expected durations, and how
// long it takes, in microseconds: see [Graph.Left]. The run cannot take less time. Nodes of finally are
// left out.
func (g *Graph) Chain(us map[string]int64, times map[string]int, slots int) (chain []int, took int64) {
	l := g.computeWays(us, times, slots)
	at := None
	for _, n := range g.Top {
		if way := l.wayOfAll(n); way > took {
			at, took = n, way
		}
	}
	for at != None {
		if at = l.firstOnWay(at); g.Nodes[at].Kind == ir.Step {
			chain = append(chain, at)
		}
		at = l.nextOnWay(at)
	}
	return chain, took
}

// firstOnWay returns the node of a group, at any depth, that begins the longest way.
func (l *left) firstOnWay(n int) int {
	for _, child := range l.g.Nodes[n].Below {
		if way := l.wayOfAll(child); way == l.start[n] && way > l.wayAfter(n) {
			return l.firstOnWay(child)
		}
	}
	return n
}

// nextOnWay returns the node that continues the longest way after a node's end, or None.
func (l *left) nextOnWay(n int) int {
	way := l.wayAfter(n)
	for p := n; p != None && way > 0; p = l.g.Nodes[p].Parent {
		for _, m := range l.waiters[p] {
			if l.wayThrough(m, p) == way {
				return m
			}
		}
	}
	return None
}

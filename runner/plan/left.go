package plan

import (
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
)

// MaxLeft bounds the expected way of a node to the end, in microseconds: 285 years, which a time.Duration can just hold.
const MaxLeft = 1 << 53

// Left computes, for each node by number, the longest expected way from its start to the end of the run: what it takes
// itself, and then the longest chain of what waits for it, through groups. It is a matter of whole numbers, so that every
// computer finds the same.
//
// us is what one execution of a node takes, in microseconds, by its name; a node that acts and is not in it takes what is
// usual among the others ([Usual]). times is how often a node is executed in all, where that is not once. Instances of a
// for_each are taken to share the run's slots; the way of one of them is its own, and not that of all. The cost is linear in
// nodes and edges, but for the sorting of us.
func (g *Graph) Left(us map[string]int64, times map[string]int, slots int) []int64 {
	return g.ways(us, times, slots).start
}

func (g *Graph) ways(us map[string]int64, times map[string]int, slots int) *left {
	l := &left{g: g, us: us, times: times, slots: int64(max(slots, 1)), usual: Usual(us),
		start: unknown(len(g.Nodes)), end: unknown(len(g.Nodes)), waiters: make([][]int, len(g.Nodes))}
	for n := range g.Nodes {
		for _, a := range g.Nodes[n].Awaits {
			l.waiters[a.Node] = append(l.waiters[a.Node], n)
		}
	}
	for n := range g.Nodes {
		l.one(n)
	}
	return l
}

// Acts reports whether a node takes time of its own.
func (n *Node) Acts() bool { return n.Kind == ir.Step && n.Action.Kind().Course() != ir.Computed }

type left struct {
	g     *Graph
	us    map[string]int64
	times map[string]int
	slots int64
	usual int64
	// start and end are the ways from the start of one execution of a node, and from its end; -1: not computed yet.
	start, end []int64
	waiters    [][]int // by node: all that wait for it, in inner regions too
}

func unknown(n int) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = -1
	}
	return list
}

// Usual is the median of what is known, in microseconds, which a node may be expected to take of which nothing is; of an
// even number the upper one, and 0 where nothing is known.
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

// one is the way from the start of one execution of a node: of one instance, in one iteration.
func (l *left) one(n int) int64 {
	if l.start[n] >= 0 {
		return l.start[n]
	}
	node, after := &l.g.Nodes[n], l.after(n)
	way := after
	if node.Acts() {
		own, known := l.us[node.Name]
		if !known {
			own = l.usual
		}
		way = after + min(max(own, 0), MaxLeft)
	}
	for _, child := range node.Below {
		way = max(way, l.whole(child))
	}
	l.start[n] = min(way, MaxLeft)
	return l.start[n]
}

// after is the way from the end of a node: what waits for it, or for its group.
func (l *left) after(n int) int64 {
	if l.end[n] >= 0 {
		return l.end[n]
	}
	node, way := &l.g.Nodes[n], int64(0)
	if node.Parent != None {
		way = l.after(node.Parent)
	}
	for _, m := range l.waiters[n] {
		way = max(way, l.into(m, n))
	}
	l.end[n] = way
	return way
}

// whole is the way from the start of a node with all its instances and iterations.
func (l *left) whole(n int) int64 { return l.scale(n, l.one(n)) }

// into is the way from the end of a node to that of the run through one that waits for it and may lie deeper.
func (l *left) into(m, from int) int64 {
	way := l.whole(m)
	for p := l.g.Nodes[m].Parent; p != None && !l.g.encloses(p, from); p = l.g.Nodes[p].Parent {
		way = l.scale(p, way)
	}
	return way
}

func (g *Graph) encloses(group, n int) bool {
	for n != None && n != group {
		n = g.Nodes[n].Parent
	}
	return n == group
}

// scale makes a way out of one execution of a node one out of all of them.
func (l *left) scale(n int, way int64) int64 {
	node := &l.g.Nodes[n]
	if !node.owns() {
		return way
	}
	rounds, around := int64(l.often(n)), int64(1)
	for p := node.Parent; p != None; p = l.g.Nodes[p].Parent {
		if l.g.Nodes[p].owns() {
			around = int64(l.often(p))
			break
		}
	}
	if node.ForEach != nil {
		around *= l.slots
	}
	if rounds <= around {
		return way
	}
	after := l.after(n)
	return min(after+min(way-after, MaxLeft/rounds)*rounds/around, MaxLeft)
}

// owns tells that a node is executed any number of times.
func (n *Node) owns() bool { return n.ForEach != nil || n.Repeat != nil }

func (l *left) often(n int) int { return max(l.times[l.g.Nodes[n].Name], 1) }

// Chain is a longest chain of steps that wait for each other, by what they are expected to take: see [Graph.Left]. The run
// cannot take less time. What is in finally is left out.
func (g *Graph) Chain(us map[string]int64, times map[string]int, slots int) (chain []int, took int64) {
	l := g.ways(us, times, slots)
	at := None
	for _, n := range g.Top {
		if way := l.whole(n); way > took {
			at, took = n, way
		}
	}
	for at != None {
		if at = l.down(at); g.Nodes[at].Kind == ir.Step {
			chain = append(chain, at)
		}
		at = l.next(at)
	}
	return chain, took
}

// down is the node of a group, at any depth, with which the longest way begins.
func (l *left) down(n int) int {
	for _, child := range l.g.Nodes[n].Below {
		if way := l.whole(child); way == l.start[n] && way > l.after(n) {
			return l.down(child)
		}
	}
	return n
}

// next is the node with which the longest way goes on after a node's end, or None.
func (l *left) next(n int) int {
	way := l.after(n)
	for p := n; p != None && way > 0; p = l.g.Nodes[p].Parent {
		for _, m := range l.waiters[p] {
			if l.into(m, p) == way {
				return m
			}
		}
	}
	return None
}

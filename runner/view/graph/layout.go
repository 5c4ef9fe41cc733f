package graph

import (
	"fmt"
	"slices"
)

// Room around what lies in a group, in pixels. Its head is as high as what is written there.
const (
	padSide   = 16
	padBottom = 16
)

// layout is the work of placing a graph.
type layout struct {
	g      *Graph
	items  []*item  // by node
	levels []*level // by node, those of groups; the workflow's own is the last
}

// TooLarge says that a graph has more than can be drawn, and what has no bound.
type TooLarge struct{ What string }

func (e *TooLarge) Error() string {
	return e.What + "; the formats mermaid, dot and json have no bound"
}

// layOut places a graph. The level that it returns is that of the workflow; groups have theirs in their items.
func (g *Graph) layOut() (*level, error) {
	switch {
	case len(g.Nodes) > MaxDrawnNodes:
		return nil, &TooLarge{fmt.Sprintf("a drawing has at most %d nodes, and these are %d", MaxDrawnNodes, len(g.Nodes))}
	case len(g.Edges) > MaxDrawnEdges:
		return nil, &TooLarge{fmt.Sprintf("a drawing has at most %d edges, and these are %d", MaxDrawnEdges, len(g.Edges))}
	}
	o := &layout{g: g, items: make([]*item, len(g.Nodes)), levels: make([]*level, len(g.Nodes)+1)}
	o.levels[len(g.Nodes)] = &level{ports: map[port]*item{}}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		o.items[i] = &item{node: i}
		if n.Kind == Finally {
			o.items[i].kind = last
		}
		if len(n.below) > 0 {
			o.levels[i] = &level{ports: map[port]*item{}, wraps: n.Kind == "parallel"}
			o.items[i].inner = o.levels[i]
		}
		l := o.around(i)
		l.items = append(l.items, o.items[i])
	}
	o.connect()
	root := o.levels[len(g.Nodes)]
	return root, o.place(root)
}

// around is the level that a node stands in.
func (o *layout) around(node int) *level {
	if p := o.g.Nodes[node].parent; p >= 0 {
		return o.levels[p]
	}
	return o.levels[len(o.g.Nodes)]
}

// place lays out what lies in a level's groups, and then the level.
func (o *layout) place(l *level) error {
	for _, it := range l.items {
		if it.node < 0 {
			continue
		}
		n := &o.g.Nodes[it.node]
		it.chars = maxChars
		if it.inner != nil {
			if err := o.place(it.inner); err != nil {
				return err
			}
			it.chars = max(maxChars, min(mostChars, (it.inner.width+2*padSide-2*padText)/smallChar))
		}
		it.width, it.height = n.size(it.chars)
		if it.inner != nil {
			it.frame(it.width - 2*padText)
		}
	}
	l.ranks()
	o.widen(l)
	for _, k := range l.links {
		k.fromAt, k.toAt = k.from.at(k.fromPort), k.to.at(k.toPort)
	}
	if !l.bends() {
		return &TooLarge{fmt.Sprintf("the edges of a drawing pass at most %d rows, and these pass more", MaxBends)}
	}
	l.fill()
	l.order()
	l.placeColumns()
	l.placeRows()
	l.spread()
	return nil
}

// frame gives a group its size, and its text of some width a place beside the links that come in through the upper border.
func (it *item) frame(text int) {
	it.width = max(it.width, it.inner.width+2*padSide)
	it.inner.left, it.inner.head = (it.width-it.inner.width)/2, it.height
	it.height += it.inner.height + padBottom
	it.textAt = padText
	for _, row := range it.inner.rows { // ports lie in the first one, from the left to the right
		for _, p := range row {
			if x := it.inner.left + p.x; p.kind == in && x > it.textAt-beside && x < it.textAt+text+beside {
				it.textAt = x + beside
			}
		}
	}
	it.width = max(it.width, it.textAt+text+padText)
	it.width += it.width % 2
}

// widen gives boxes whose text is cut what their row has less than the widest row.
func (o *layout) widen(l *level) {
	type sum struct{ width, cut int } // of a row
	rows := map[int]*sum{}
	widest := 0
	isCut := func(it *item) bool {
		most, _ := o.g.Nodes[it.node].size(mostChars)
		return it.inner == nil && most > it.width
	}
	for _, it := range l.items {
		if it.node < 0 {
			continue
		}
		r := rows[it.rank]
		if r == nil {
			r = &sum{width: -gapBox}
			rows[it.rank] = r
		}
		r.width += it.width + gapBox
		if isCut(it) {
			r.cut++
		}
		widest = max(widest, r.width)
	}
	for _, it := range l.items {
		if it.node < 0 || !isCut(it) {
			continue
		}
		r := rows[it.rank]
		it.chars = min(mostChars, maxChars+(max(widest, roomy)-r.width)/r.cut/smallChar)
		it.width, it.height = o.g.Nodes[it.node].size(it.chars)
	}
}

// roomy is how wide a row may always be, in pixels, and beside how far lines stay away from the text of a group.
const roomy, beside = 560, 8

// at is where links meet an item, from its left: at the port inside of it, or in the middle.
func (it *item) at(port *item) int {
	if port != nil {
		return it.inner.left + port.x
	}
	return it.width / 2
}

// stem is the distance of arrows that meet a box side by side; nearer ones would run into each other, so they share a point.
const stem, nearest = 16, 7

// spread parts the links that meet a box itself, in the order of their other ends.
func (l *level) spread() {
	for _, it := range l.items {
		if it.kind != box {
			continue
		}
		part(it, it.down, func(k *link) (*int, *item, int) { return &k.fromAt, k.fromPort, k.to.x + k.toAt })
		part(it, it.up, func(k *link) (*int, *item, int) { return &k.toAt, k.toPort, k.from.x + k.fromAt })
	}
}

func part(it *item, links []*link, end func(*link) (at *int, port *item, other int)) {
	var own []*link
	for _, k := range links {
		if _, port, _ := end(k); port == nil {
			own = append(own, k)
		}
	}
	if len(own) < 2 {
		return
	}
	step := min(stem, (it.width-24)/(len(own)-1))
	if step < nearest {
		return
	}
	slices.SortStableFunc(own, func(a, b *link) int {
		_, _, x := end(a)
		_, _, y := end(b)
		return x - y
	})
	for i, k := range own {
		at, _, _ := end(k)
		*at = it.width/2 + step*(2*i-len(own)+1)/2
	}
}

package graph

// lifted is an edge between two nodes as it appears in the innermost group that holds both: between the boxes there in
// which they lie, or which they are.
type lifted struct{ from, to int }

// connect makes the links of every level.
func (o *layout) connect() {
	lift := make([]lifted, len(o.g.Edges))
	for i, e := range o.g.Edges {
		lift[i] = o.lift(e.from, e.to)
	}
	back := o.backward(lift)
	for i, e := range o.g.Edges {
		up := back[lift[i]]
		upper, lower, at := e.from, e.to, lift[i]
		if up {
			upper, lower, at = lower, upper, lifted{at.to, at.from}
		}
		k := &link{from: o.items[at.from], to: o.items[at.to], kind: e.Kind}
		k.fromPort = o.leave(upper, at.from, e.Kind, up)
		k.toPort = o.enter(lower, at.to, e.Kind, up)
		switch {
		case up && k.fromPort == nil:
			k.head = -1
		case !up && k.toPort == nil:
			k.head = 1
		}
		o.around(at.from).add(k)
	}
}

func (l *level) add(k *link) {
	l.links = append(l.links, k)
	k.from.down, k.to.up = append(k.from.down, k), append(k.to.up, k)
}

// lift finds the boxes of an edge's ends in the innermost group around both.
func (o *layout) lift(from, to int) lifted {
	depth := func(n int) (d int) {
		for ; n >= 0; n = o.g.Nodes[n].parent {
			d++
		}
		return d
	}
	a, b := depth(from), depth(to)
	for ; a > b; a-- {
		from = o.g.Nodes[from].parent
	}
	for ; b > a; b-- {
		to = o.g.Nodes[to].parent
	}
	for o.g.Nodes[from].parent != o.g.Nodes[to].parent {
		from, to = o.g.Nodes[from].parent, o.g.Nodes[to].parent
	}
	return lifted{from, to}
}

// backward finds the lifted edges to draw upwards: two groups can wait for nodes in each other, and what closes such a
// circle goes up.
func (o *layout) backward(lift []lifted) map[lifted]bool {
	next := make([][]int, len(o.g.Nodes))
	for _, e := range lift {
		next[e.from] = append(next[e.from], e.to)
	}
	back, done, open := map[lifted]bool{}, make([]bool, len(next)), make([]bool, len(next))
	var visit func(n int)
	visit = func(n int) {
		done[n], open[n] = true, true
		for _, to := range next[n] {
			if open[to] {
				back[lifted{n, to}] = true
			} else if !done[to] {
				visit(to)
			}
		}
		open[n] = false
	}
	for n := range next {
		if !done[n] {
			visit(n)
		}
	}
	return back
}

// leave takes the links of a node out through the lower borders of the groups around it, up to the box that it lies in,
// and returns the port in that box's border; nil if it is that box.
func (o *layout) leave(node, box int, kind EdgeKind, up bool) (port *item) {
	for at := node; at != box; at = o.g.Nodes[at].parent {
		head := int8(0)
		if up && at == node {
			head = -1
		}
		port = o.around(at).port(node, out, &link{from: o.items[at], fromPort: port, kind: kind, head: head})
	}
	return port
}

// enter is leave for the upper borders.
func (o *layout) enter(node, box int, kind EdgeKind, up bool) (port *item) {
	for at := node; at != box; at = o.g.Nodes[at].parent {
		head := int8(0)
		if !up && at == node {
			head = 1
		}
		port = o.around(at).port(node, in, &link{to: o.items[at], toPort: port, kind: kind, head: head})
	}
	return port
}

// port gives the port of a node in the border of the group that a level is. All that leaves a node on one side shares it.
func (l *level) port(node int, side itemKind, k *link) *item {
	p := l.ports[port{node, side}]
	if p == nil {
		p = &item{node: -1, kind: side}
		l.ports[port{node, side}] = p
		l.items = append(l.items, p)
		if side == in {
			k.from = p
		} else {
			k.to = p
		}
		l.add(k)
		return p
	}
	shared := append(p.up, p.down...)[0]
	if k.head != 0 {
		shared.head = k.head
	}
	if k.kind != Observes {
		shared.kind = k.kind
	}
	return p
}

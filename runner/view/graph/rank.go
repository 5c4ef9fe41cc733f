package graph

// ranks gives each item its row: one below the lowest of what links to it. Ports stand in rows of their own.
func (l *level) ranks() {
	first := 0
	for _, it := range l.items {
		if it.kind == in {
			first = 1
		}
	}
	waiting, loose := map[*item]int{}, l.loose()
	var ready []*item
	for _, it := range l.items {
		waiting[it] = len(it.up)
		if len(it.up) == 0 {
			ready = append(ready, it)
		}
	}
	lowest := first - 1
	for len(ready) > 0 {
		it := ready[0]
		ready = ready[1:]
		if it.kind != in {
			it.rank = max(it.rank, first)
		}
		if it.kind == box {
			lowest = max(lowest, it.rank)
		}
		for _, k := range it.down {
			k.to.rank = max(k.to.rank, it.rank+1)
			if waiting[k.to]--; waiting[k.to] == 0 {
				ready = append(ready, k.to)
			}
		}
	}
	if l.wraps {
		for i, it := range loose {
			it.rank = first + i/columns(len(loose))
			lowest = max(lowest, it.rank)
		}
	}
	for _, it := range l.items {
		if it.kind == last {
			lowest++
			it.rank = lowest
		}
	}
	for _, it := range l.items {
		if it.kind == out {
			it.rank = lowest + 1
		}
	}
}

// loose are the boxes without links.
func (l *level) loose() (out []*item) {
	for _, it := range l.items {
		if it.kind == box && len(it.up)+len(it.down) == 0 {
			out = append(out, it)
		}
	}
	return out
}

// columns is how many of n boxes without links stand side by side: five make one row, more make a block.
func columns(n int) int {
	c := 5
	for c*c < 2*n {
		c++
	}
	return c
}

// bends puts an item into each row that a link passes, so that links go from row to row. It reports whether they are few
// enough.
func (l *level) bends() bool {
	var links []*link
	count := 0
	for _, it := range l.items {
		it.up = nil
	}
	for _, k := range l.links {
		k.from.down = nil
	}
	for _, k := range l.links {
		from, to := k.from, k.to
		at, fromPort, fromAt := from, k.fromPort, k.fromAt
		for r := from.rank + 1; r < to.rank; r++ {
			if count++; count > MaxBends {
				return false
			}
			b := &item{node: -1, kind: bend, rank: r}
			l.items = append(l.items, b)
			head := int8(0)
			if k.head < 0 && at == from {
				head = -1
			}
			links = append(links, &link{from: at, to: b, fromPort: fromPort, fromAt: fromAt, kind: k.kind, head: head})
			at, fromPort, fromAt = b, nil, 0
		}
		head := k.head
		if at != from && head < 0 {
			head = 0
		}
		links = append(links, &link{from: at, to: to, fromPort: fromPort, fromAt: fromAt, toPort: k.toPort, toAt: k.toAt, kind: k.kind,
			head: head})
	}
	l.links = links
	for _, k := range links {
		k.from.down, k.to.up = append(k.from.down, k), append(k.to.up, k)
	}
	return true
}

// fill makes the rows.
func (l *level) fill() {
	for _, it := range l.items {
		for len(l.rows) <= it.rank {
			l.rows = append(l.rows, nil)
		}
		it.place = len(l.rows[it.rank])
		l.rows[it.rank] = append(l.rows[it.rank], it)
	}
}

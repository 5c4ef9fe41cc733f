package graph

// Distances in pixels.
const (
	gapBox  = 28 // between neighbours in a row
	gapBend = 16 // beside an edge
	gapRow  = 38 // between rows, at least; wide edges get more
	maxRow  = 110
	gapPort = 12 // between a row of ports and the next, where links are nearly straight
	small   = 8  // nearly straight
)

// passes is how often all rows are moved. The links of the graphs of BenchmarkLayout lead 14.1 million pixels aside after
// two, 10.3 after four, and 10.4 to 10.7 after more.
const passes = 4

// placeColumns places the items of each row: as near as can be to the middle of their neighbours, in order, without overlap.
func (l *level) placeColumns() {
	for _, row := range l.rows {
		x := 0
		for i, it := range row {
			if i > 0 {
				x += gap(row[i-1], it)
			}
			it.x = x
			x += it.width
		}
	}
	for i := range passes {
		if i%2 == 0 {
			for r := range l.rows {
				l.settle(l.rows[r], i == passes-2, false)
			}
		} else {
			for r := len(l.rows) - 1; r >= 0; r-- {
				l.settle(l.rows[r], false, i < passes-1)
			}
		}
	}
	l.trim()
}

// trim moves all to the left border, and what stands last below the middle.
func (l *level) trim() {
	var above []*item
	for _, it := range l.items {
		if it.kind != last {
			above = append(above, it)
		}
	}
	left, right := 0, 0
	for i, it := range above {
		if i == 0 || it.x < left {
			left = it.x
		}
		if i == 0 || it.x+it.width > right {
			right = it.x + it.width
		}
	}
	for _, it := range l.items {
		if it.kind == last {
			it.x = (left + right - it.width) / 2
			left = min(left, it.x)
		}
	}
	for _, it := range l.items {
		it.x -= left
		l.width = max(l.width, it.x+it.width)
	}
}

func gap(a, b *item) int {
	if a.node < 0 || b.node < 0 {
		return gapBend
	}
	return gapBox
}

// weight is how much it counts that a link is straight: one between bends most. (Gansner and others, "A Technique for
// Drawing Directed Graphs", 1993.)
func (k *link) weight() int {
	switch {
	case k.from.kind == bend && k.to.kind == bend:
		return 8
	case k.from.node < 0 || k.to.node < 0:
		return 2
	}
	return 1
}

// wish is where the item of a place in a row would stand for its links to be straight, and how much that weighs. One
// without links stays by its neighbour.
func wish(row []*item, i int, up, down bool) (x, weight int) {
	it := row[i]
	if up {
		for _, k := range it.up {
			x += k.weight() * (k.from.x + k.fromAt - k.toAt)
			weight += k.weight()
		}
	}
	if down {
		for _, k := range it.down {
			x += k.weight() * (k.to.x + k.toAt - k.fromAt)
			weight += k.weight()
		}
	}
	switch {
	case weight > 0:
		return floorDiv(x, weight), weight * 4
	case len(it.up)+len(it.down) > 0:
		return it.x, 1
	case i > 0:
		return row[i-1].x + row[i-1].width + gap(row[i-1], it), 1
	case len(row) > 1:
		return row[1].x - it.width - gap(it, row[1]), 1
	}
	return it.x, 1
}

// run is several neighbours that stand as close as they may; its x is where the first one would begin.
type run struct{ sum, weight, first int }

func (r run) x() int { return floorDiv(r.sum, r.weight) }

// settle finds the places of a row whose squared distances from the wishes are least: isotonic regression by pooling
// neighbours that would overlap.
func (l *level) settle(row []*item, both, upwards bool) {
	var runs []run
	offset := make([]int, len(row)) // of each, from the row's first, at the closest
	for i, it := range row {
		if i > 0 {
			offset[i] = offset[i-1] + row[i-1].width + gap(row[i-1], it)
		}
		x, w := wish(row, i, both || !upwards, both || upwards)
		runs = append(runs, run{(x - offset[i]) * w, w, i})
		for n := len(runs); n > 1 && runs[n-2].x() > runs[n-1].x(); n-- {
			runs[n-2].sum += runs[n-1].sum
			runs[n-2].weight += runs[n-1].weight
			runs = runs[:n-1]
		}
	}
	for n, r := range runs {
		end := len(row)
		if n+1 < len(runs) {
			end = runs[n+1].first
		}
		for i := r.first; i < end; i++ {
			row[i].x = r.x() + offset[i]
		}
	}
}

func floorDiv(a, b int) int {
	if q := a / b; a%b == 0 || a > 0 {
		return q
	} else {
		return q - 1
	}
}

// placeRows gives rows their height; the wider the edges between two, the further they stand apart.
func (l *level) placeRows() {
	y := 0
	for r, row := range l.rows {
		if r > 0 {
			y += l.between(r)
		}
		height := 0
		for _, it := range row {
			height = max(height, it.height)
		}
		l.tops, l.bottoms = append(l.tops, y), append(l.bottoms, y+height)
		for _, it := range row {
			it.y = y
		}
		y += height
	}
	l.height = y
}

func (l *level) between(r int) int {
	ports, widest := true, 0
	for _, it := range l.rows[r-1] {
		ports = ports && it.kind == in
		for _, k := range it.down {
			widest = max(widest, abs(k.from.x+k.fromAt-k.to.x-k.toAt))
		}
	}
	if widest <= small && (ports || l.rows[r][0].kind == out) {
		return gapPort
	}
	return max(gapRow, min(maxRow, widest/8))
}

func abs(n int) int { return max(n, -n) }

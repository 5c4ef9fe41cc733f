package graph

import "slices"

// sweeps is how often the rows are ordered anew, downwards and upwards in turn. Of 119,000 crossings in 100 random graphs of
// 20 to 200 nodes two leave 38,100, four 36,500, eight 36,300, and more leave no fewer. BenchmarkLayout counts them.
const sweeps = 8

// order puts the items of each row in the order of the middle of their neighbours in the row before, over and over, and
// keeps the order with the fewest crossings. (Sugiyama, Tagawa, Toda 1981.)
func (l *level) order() {
	best, kept := l.crossings(), l.places()
	for i := range sweeps {
		if best == 0 {
			break
		}
		if i%2 == 0 {
			for r := 1; r < len(l.rows); r++ {
				l.sort(r, (*item).above)
			}
		} else {
			for r := len(l.rows) - 2; r >= 0; r-- {
				l.sort(r, (*item).below)
			}
		}
		if n := l.crossings(); n < best {
			best, kept = n, l.places()
		}
	}
	for r, row := range l.rows {
		copy(row, kept[r])
		for i, it := range row {
			it.place = i
		}
	}
}

func (l *level) places() [][]*item {
	out := make([][]*item, len(l.rows))
	for r, row := range l.rows {
		out[r] = slices.Clone(row)
	}
	return out
}

// unit is the distance of two places; where a link meets a box counts as a part of it.
const unit = 1024

func (k *link) fromPlace() int { return k.from.place*unit + k.fromAt*unit/max(k.from.width, 1) }
func (k *link) toPlace() int   { return k.to.place*unit + k.toAt*unit/max(k.to.width, 1) }

// above is the middle of what links to an item; ok is false where nothing does.
func (it *item) above() (middle int, ok bool) {
	for _, k := range it.up {
		middle += k.fromPlace()
	}
	return middle / max(len(it.up), 1), len(it.up) > 0
}

func (it *item) below() (middle int, ok bool) {
	for _, k := range it.down {
		middle += k.toPlace()
	}
	return middle / max(len(it.down), 1), len(it.down) > 0
}

// sort orders one row; what has no neighbours keeps its place.
func (l *level) sort(r int, middle func(*item) (int, bool)) {
	row := l.rows[r]
	keys := make(map[*item]int, len(row))
	var moving []*item
	var slots []int
	for i, it := range row {
		if m, ok := middle(it); ok {
			keys[it] = m
			moving, slots = append(moving, it), append(slots, i)
		}
	}
	slices.SortStableFunc(moving, func(a, b *item) int { return keys[a] - keys[b] })
	for i, it := range moving {
		row[slots[i]] = it
	}
	for i, it := range row {
		it.place = i
	}
}

// crossings counts the pairs of links that cross: those that are sorted by their upper end and not by the lower one.
// Counting with a binary indexed tree takes O(n log n). (Barth, Jünger, Mutzel 2002.)
func (l *level) crossings() int {
	total := 0
	for r := 0; r+1 < len(l.rows); r++ {
		var links []*link
		for _, it := range l.rows[r] {
			links = append(links, it.down...)
		}
		slices.SortStableFunc(links, func(a, b *link) int {
			if d := a.fromPlace() - b.fromPlace(); d != 0 {
				return d
			}
			return a.toPlace() - b.toPlace()
		})
		tree := make([]int, len(l.rows[r+1])+1)
		for i, k := range links {
			before := 0 // links so far whose lower end is not to the right
			for at := k.to.place + 1; at > 0; at &= at - 1 {
				before += tree[at]
			}
			total += i - before
			for at := k.to.place + 1; at < len(tree); at += at & -at {
				tree[at]++
			}
		}
	}
	return total
}

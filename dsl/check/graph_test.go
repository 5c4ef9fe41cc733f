package check

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A random graph: the order puts needed points first wherever that is possible, each knot yields one real circle, and
// there are no circles exactly where the order is whole.
func TestGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "points")
		g := newGraph(n)
		for range rapid.IntRange(0, 2*n).Draw(t, "edges") {
			g.edge(rapid.IntRange(0, n-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to"))
		}
		order := g.order()
		place := make([]int, n)
		for i, p := range order {
			place[p] = i
		}
		if sorted := slices.Sorted(slices.Values(order)); len(sorted) != n || sorted[0] != 0 || len(slices.Compact(sorted)) != n {
			t.Fatalf("not an order of all points: %v", order)
		}
		late := 0
		for a, bs := range g.needs {
			for _, b := range bs {
				if place[b] >= place[a] {
					late++
				}
			}
		}
		cycles := g.cycles()
		if (late == 0) != (len(cycles) == 0) {
			t.Fatalf("%d needs come too late, but the circles are %v", late, cycles)
		}
		seen := map[int]bool{}
		for _, c := range cycles {
			for i, p := range c {
				if seen[p] {
					t.Fatalf("point %d is in two circles: %v", p, cycles)
				}
				seen[p] = true
				if !slices.Contains(g.needs[p], int32(c[(i+1)%len(c)])) {
					t.Fatalf("%v is not a circle: %d does not need %d", c, p, c[(i+1)%len(c)])
				}
			}
		}
	})
}

// A chain as long as a large file costs no stack.
func TestGraphLong(t *testing.T) {
	const n = 300000
	g := newGraph(n)
	for i := range n - 1 {
		g.edge(i, i+1)
	}
	if order := g.order(); order[0] != n-1 || order[n-1] != 0 || len(g.cycles()) != 0 {
		t.Error("the chain is not in order")
	}
	g.edge(n-1, 0)
	if c := g.cycles(); len(c) != 1 || len(c[0]) != n {
		t.Error("the circle is not found")
	}
}

package check

// graph holds which point needs which. Points are small numbers; an edge a → b says that a comes after b. Nothing here
// recurses: a chain may be as long as a file.
type graph struct{ needs [][]int32 }

func newGraph(n int) *graph { return &graph{needs: make([][]int32, n)} }

func (g *graph) edge(a, b int) { g.needs[a] = append(g.needs[a], int32(b)) }

// order lists the points, each after all that it needs, smallest number first where there is a choice between roots.
// Points on a circle, and those that need one, come last, in number order.
func (g *graph) order() []int {
	left := make([]int, len(g.needs))
	next := make([][]int32, len(g.needs))
	var out []int
	for a, bs := range g.needs {
		left[a] = len(bs)
		for _, b := range bs {
			next[b] = append(next[b], int32(a))
		}
		if len(bs) == 0 {
			out = append(out, a)
		}
	}
	for i := 0; i < len(out); i++ {
		for _, a := range next[out[i]] {
			if left[a]--; left[a] == 0 {
				out = append(out, int(a))
			}
		}
	}
	if len(out) < len(g.needs) {
		for a := range g.needs {
			if left[a] > 0 {
				out = append(out, a)
			}
		}
	}
	return out
}

// cycles returns one shortest circle for each knot of points that need each other, in the order of need, beginning with
// its smallest point.
func (g *graph) cycles() (out [][]int) {
	for _, knot := range g.knots() {
		in := make(map[int32]bool, len(knot))
		for _, p := range knot {
			in[p] = true
		}
		out = append(out, g.circle(knot[0], in))
	}
	return out
}

// knots finds the strongly connected components that hold a circle (Tarjan 1972, without recursion), in order of their
// smallest points; each begins with it.
func (g *graph) knots() (out [][]int32) {
	n := len(g.needs)
	number, low, on := make([]int32, n), make([]int32, n), make([]bool, n)
	type visit struct{ p, edge int32 }
	var stack []int32
	var calls []visit
	count := int32(0)
	enter := func(p int32) {
		count++
		number[p], low[p], on[p] = count, count, true
		stack = append(stack, p)
		calls = append(calls, visit{p, 0})
	}
	for root := range g.needs {
		if number[root] != 0 {
			continue
		}
		enter(int32(root))
		for len(calls) > 0 {
			v := &calls[len(calls)-1]
			if int(v.edge) < len(g.needs[v.p]) {
				q := g.needs[v.p][v.edge]
				v.edge++
				if number[q] == 0 {
					enter(q)
				} else if on[q] {
					low[v.p] = min(low[v.p], number[q])
				}
				continue
			}
			p := v.p
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				up := calls[len(calls)-1].p
				low[up] = min(low[up], low[p])
			}
			if low[p] != number[p] {
				continue
			}
			var knot []int32
			for {
				q := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				on[q] = false
				knot = append(knot, q)
				if q == p {
					break
				}
			}
			if len(knot) > 1 || g.self(p) {
				out = append(out, smallestFirst(knot))
			}
		}
	}
	return out
}

func (g *graph) self(p int32) bool {
	for _, q := range g.needs[p] {
		if q == p {
			return true
		}
	}
	return false
}

func smallestFirst(knot []int32) []int32 {
	for i, p := range knot {
		if p < knot[0] {
			knot[0], knot[i] = p, knot[0]
		}
	}
	return knot
}

// circle finds a shortest way from p back to p inside a knot.
func (g *graph) circle(p int32, in map[int32]bool) []int {
	from := map[int32]int32{}
	queue := []int32{p}
	for len(queue) > 0 {
		a := queue[0]
		queue = queue[1:]
		for _, b := range g.needs[a] {
			if b == p {
				var back []int
				for q := a; q != p; q = from[q] {
					back = append(back, int(q))
				}
				way := []int{int(p)}
				for i := len(back) - 1; i >= 0; i-- {
					way = append(way, back[i])
				}
				return way
			}
			if _, seen := from[b]; !seen && in[b] {
				from[b] = a
				queue = append(queue, b)
			}
		}
	}
	return []int{int(p)}
}

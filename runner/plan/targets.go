package plan

// Closure reports, for each node by number, whether it runs in a run of only the named nodes. These
// nodes run, the nodes in them, the groups around them, all nodes that one of these waits for, and
// finally. Names that the graph does not have are ignored.
func (g *Graph) Closure(names []string) []bool {
	wanted := make([]bool, len(g.Nodes))
	var whole func(n int)
	var need func(n int)
	need = func(n int) {
		if wanted[n] {
			return
		}
		wanted[n] = true
		for _, a := range g.Nodes[n].Awaits {
			whole(a.Node)
		}
		if up := g.Nodes[n].Parent; up != None {
			need(up)
		}
	}
	done := make([]bool, len(g.Nodes))
	whole = func(n int) {
		if done[n] {
			return
		}
		done[n] = true
		need(n)
		for _, child := range g.Nodes[n].Below {
			whole(child)
		}
	}
	for _, name := range names {
		if n := g.Number(name); n != None {
			whole(n)
		}
	}
	for _, n := range g.Finally {
		whole(n)
	}
	return wanted
}

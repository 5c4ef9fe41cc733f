package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
)

// Runs that hold units of quotas and wait for more could wait for each other forever. They do not, because whatever holds a
// quota may only take such quotas that are declared later, and so each wait is for a later one. What is held around a node is
// not taken again. A place in max_concurrency and the attempts of a budget, which a call keeps while its run waits, and the turn of a
// run in its group, are such things, too.

// taking are the quotas whose units something takes, each with where that is said.
type taking map[string]diag.Range

// unitsOf lists the quotas that have units of those that a block names.
func (c *checker) unitsOf(b *Block) (names []string) {
	if b == nil || b.attr("quota") == nil {
		return nil
	}
	for _, r := range b.attr("quota").Names {
		if q := c.quotas[r.Name]; q != nil && q.attr("capacity") != nil {
			names = append(names, r.Name)
		}
	}
	return names
}

// place is where a block says that it takes a quota.
func (b *Block) place(quota string) diag.Range {
	for _, r := range b.attr("quota").Names {
		if r.Name == quota {
			return r.Range
		}
	}
	return b.attr("quota").span()
}

// holding checks all that a workflow holds, after the workflows that it calls.
func (c *checker) holding(w *Workflow) {
	if c.number == nil {
		c.number = map[string]int{}
		for i, q := range c.program.Quotas {
			c.number[q.Name] = i
		}
		c.takings, c.turning = map[*Workflow]taking{}, map[*Workflow]bool{}
	}
	if len(c.number) == 0 {
		return
	}
	inside, holder := taking{}, (*Block)(nil)
	if len(c.unitsOf(w.Block)) > 0 {
		holder = w.Block
	}
	for _, nodes := range [][]*Node{w.Nodes, w.Finally} {
		for _, n := range nodes {
			maps.Copy(inside, c.takenBy(n, c.unitsOf(w.Block), holder))
		}
	}
	for _, n := range w.All {
		c.waitsOutside(w, n)
	}
	c.hold(w.Block, inside, nil)
	c.waitsForRoom(w.Block, w.Nodes, c.unitsOf(w.Block))
	for _, name := range c.unitsOf(w.Block) {
		inside[name] = w.place(name)
	}
	c.takings[w] = inside
}

// takenBy returns what a node takes, with all that lies inside and that it calls, but for the units that are held around it. It
// checks what the node holds.
func (c *checker) takenBy(n *Node, around []string, holder *Block) taking {
	out := taking{}
	own, called := c.unitsOf(n.Block), c.called(n)
	takes := func(who []expr.Name, held []string) {
		for _, r := range who {
			for _, g := range c.assigned(r) {
				for _, name := range c.unitsOf(g) {
					if _, said := out[name]; !said && !slices.Contains(held, name) {
						out[name] = r.Range
					}
				}
			}
		}
	}
	if n.Schema.Kind != "step" || called != nil {
		held := append(slices.Clip(around), own...)
		if len(own) > 0 {
			holder = n.Block
		}
		for _, child := range n.Children {
			maps.Copy(out, c.takenBy(child, held, holder))
		}
		takes(c.judgesOf(n), held)
		if called != nil {
			if holder != nil && c.takesTurns(called) {
				c.turnInside(n.Block, n.attr("call").span(), called, holder)
			}
			for _, name := range slices.Sorted(maps.Keys(c.takings[called])) {
				if !slices.Contains(held, name) {
					out[name] = n.attr("call").span()
				}
			}
		}
		c.takenByHealers(n, held, holder, out)
		c.hold(n.Block, out, around)
		c.waitsForPlaces(n, around)
		c.waitsForRoom(n.Block, n.Children, append(slices.Clip(around), own...))
	} else {
		c.takenByHealers(n, around, holder, out)
	}
	for _, name := range own {
		if !slices.Contains(around, name) {
			out[name] = n.place(name)
		}
	}
	takes(c.allAssignees(n), around)
	takes(c.judgesOf(n), around)
	return out
}

// hold reports quotas that are taken inside of what holds a later one, and quotas of which nothing can be held.
func (c *checker) hold(b *Block, inside taking, around []string) {
	a := b.attr("quota")
	if a == nil {
		return
	}
	held := c.unitsOf(b)
	for _, r := range a.Names {
		if q := c.quotas[r.Name]; q != nil && !q.stray && !slices.Contains(held, r.Name) {
			c.report(diag.Diagnostic{Code: "F0140", Subject: r.Range, Context: b.Words(), Summary: fmt.Sprintf("Quota %q has no units to hold", r.Name),
				Detail: "A group holds units for its whole time, and this quota has no capacity. Name the quota in the steps or agents whose attempts it limits.",
				Notes:  []diag.Note{{Text: q.Words() + " is declared here", Range: nameRange(q)}}})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(inside)) {
		for _, h := range held {
			if name == h || slices.Contains(around, h) || c.number[name] > c.number[h] {
				continue
			}
			c.report(diag.Diagnostic{Code: "F0141", Subject: inside[name], Context: b.Words(), Summary: fmt.Sprintf("Quota %q is taken by a node that already holds quota %q", name, h),
				Detail: fmt.Sprintf("Two runs that take the two in different orders could wait for each other forever. Only quotas that are declared after %q can be taken here: declare %q further down, or hold both together:  quota = [quota.%s, quota.%s].", h, name, name, h),
				Notes: []diag.Note{{Text: fmt.Sprintf("%q is held here", h), Range: b.place(h)}, {Text: fmt.Sprintf("%q is declared here", name), Range: nameRange(c.quotas[name])},
					{Text: fmt.Sprintf("%q is declared here", h), Range: nameRange(c.quotas[h])}}})
			break
		}
	}
}

// turnInside reports a call of a workflow whose runs take turns, inside of what holds a quota.
func (c *checker) turnInside(n *Block, at diag.Range, called *Workflow, holder *Block) {
	quota := c.unitsOf(holder)[0]
	c.report(diag.Diagnostic{Code: "F0142", Subject: at, Context: n.Words(), Summary: fmt.Sprintf("A node that holds quota %q calls a workflow that takes turns", quota),
		Detail: fmt.Sprintf("The run that has the turn could wait for the quota, while %s waits for the turn. Put the quota on steps that do not call workflow %q, or put the concurrency block on the workflow that calls.", holder.Words(), called.Name),
		Notes:  []diag.Note{{Text: fmt.Sprintf("%q is held here", quota), Range: holder.place(quota)}}})
}

// takesTurns reports whether runs of a workflow, or those that it calls, take turns.
func (c *checker) takesTurns(w *Workflow) bool {
	turns, known := c.turning[w]
	if known {
		return turns
	}
	c.turning[w] = false // for a circle of calls
	turns = w.Inner("concurrency") != nil
	for _, n := range w.All {
		if to := c.called(n); to != nil && !turns {
			turns = c.takesTurns(to)
		}
		for _, to := range c.healers(n.escalation) {
			turns = turns || c.takesTurns(to)
		}
	}
	c.turning[w] = turns
	return turns
}

// startsTurns reports whether a node calls a workflow whose runs take turns, or is healed by one.
func (c *checker) startsTurns(n *Node) bool {
	called := c.called(n)
	return called != nil && c.takesTurns(called) || slices.ContainsFunc(c.healers(n.escalation), c.takesTurns)
}

// waitsForPlaces reports a node with max_concurrency in which a call keeps its place while its run waits for a quota, and
// something else holds such a quota while it waits for a place.
func (c *checker) waitsForPlaces(g *Node, around []string) {
	if g.attr("max_concurrency") == nil {
		return
	}
	call, holder, first, last := c.opposed([]*Node{g}, g, around, func(*Node) bool { return true })
	if call == nil {
		return
	}
	c.report(diag.Diagnostic{Code: "F0142", Subject: g.attr("max_concurrency").Src.Range, Context: g.Words(),
		Summary: fmt.Sprintf("%s and %s could wait for each other", upper(call.Words()), holder.Words()),
		Detail:  fmt.Sprintf("The call keeps its place in max_concurrency while its run waits for quota %q, and the holder of quota %q waits for a place. Remove max_concurrency, or hold %q around the call, too.", first, last, first),
		Notes:   []diag.Note{{Text: "the call", Range: call.attr("call").span()}, {Text: fmt.Sprintf("%q is held here", last), Range: holder.place(last)}}})
}

// waitsForRoom reports a budget in which a call keeps attempts, tokens or cost while its run waits for a quota, and something else holds
// such a quota while it waits for them.
func (c *checker) waitsForRoom(b *Block, inside []*Node, held []string) {
	budget := b.Inner("budget")
	if budget == nil || budget.Text("on_exceed") == "warn" {
		return
	}
	for _, bound := range []struct{ name, words string }{{"attempts", "attempts"}, {"tokens", "tokens"}, {"cost_usd", "dollars"}} {
		if budget.attr(bound.name) == nil {
			continue
		}
		call, holder, first, last := c.opposed(inside, nil, held, func(n *Node) bool { return bound.name == "attempts" || c.boundedBelow(n, b, bound.name) })
		if call == nil {
			continue
		}
		c.report(diag.Diagnostic{Code: "F0142", Subject: budget.attr(bound.name).Src.Range, Context: b.Words(),
			Summary: fmt.Sprintf("%s and %s could wait for each other in the budget", upper(call.Words()), holder.Words()),
			Detail: fmt.Sprintf("The budget reserves the %s of the call while its run waits for quota %q, and the holder of quota %q waits for %[1]s. Give the two separate budgets, or hold %[2]q around the call, too.",
				bound.words, first, last),
			Notes: []diag.Note{{Text: "the call", Range: call.attr("call").span()}, {Text: fmt.Sprintf("%q is held here", last), Range: holder.place(last)}}})
		return
	}
}

// boundedBelow reports whether a budget of the workflow that a node calls, or one around the call and inside of a block, has a bound.
func (c *checker) boundedBelow(call *Node, b *Block, bound string) bool {
	has := func(of *Block) bool {
		budget := of.Inner("budget")
		return budget != nil && budget.attr(bound) != nil && (budget.Text("on_exceed") == "" || budget.Text("on_exceed") == "stop")
	}
	found := has(c.called(call).Block)
	for n := call; n != nil && n.Block != b; n = n.Parent {
		found = found || has(n.Block)
	}
	return found
}

// opposed finds a call among nodes that keeps something, and a group other than g that holds a quota which the called run could wait
// for: the first quota that the call takes is not declared after the last one that is held.
func (c *checker) opposed(nodes []*Node, g *Node, around []string, keeps func(*Node) bool) (call, holder *Node, first, last string) {
	var walk func(n *Node, held []string)
	walk = func(n *Node, held []string) {
		own := c.unitsOf(n.Block)
		called := c.called(n)
		if n != g && n.Schema.Kind != "step" {
			for _, name := range own {
				if !slices.Contains(held, name) && (holder == nil || c.number[name] > c.number[last]) {
					holder, last = n, name
				}
			}
		}
		wants := slices.Sorted(maps.Keys(c.takings[called]))
		if called != nil {
			wants = append(wants, own...)
		} else {
			held = append(slices.Clip(held), own...)
		}
		for _, name := range wants {
			if called != nil && !slices.Contains(held, name) && keeps(n) && (call == nil || c.number[name] < c.number[first]) {
				call, first = n, name
			}
		}
		for _, child := range n.Children {
			walk(child, held)
		}
	}
	for _, n := range nodes {
		walk(n, around)
	}
	if call == nil || holder == nil || c.number[first] > c.number[last] {
		return nil, nil, "", ""
	}
	return call, holder, first, last
}

// waitsOutside reports a group that holds a quota while something inside waits for a node outside, and that node takes the quota
// or one that is declared earlier, or starts a run that takes turns: the run that has the turn could wait for the quota. What the
// group itself waits for has ended before the group holds anything.
func (c *checker) waitsOutside(w *Workflow, g *Node) {
	if len(g.Children) == 0 {
		return
	}
	around, held := c.heldAround(w, g), c.unitsOf(g.Block)
	held = slices.DeleteFunc(held, func(name string) bool { return slices.Contains(around, name) })
	if len(held) == 0 {
		return
	}
	last := slices.MaxFunc(held, func(a, b string) int { return c.number[a] - c.number[b] })
	ended := map[*Node]bool{}
	for n := g; n != nil; n = n.Parent {
		for _, to := range n.awaited(w) {
			to.reach(w, g, ended, func(*Node) {})
		}
	}
	for _, n := range w.All {
		if n == g || !n.liesIn(g) {
			continue
		}
		for _, to := range n.awaited(w) {
			var taker *Node
			takes := ""
			to.reach(w, g, ended, func(x *Node) {
				for _, name := range c.ownTakings(w, x) {
					if taker == nil && c.number[name] <= c.number[last] {
						taker, takes = x, fmt.Sprintf("takes quota %q", name)
					}
				}
				if taker == nil && c.startsTurns(x) {
					taker, takes = x, "starts a run that takes turns"
				}
			})
			if taker != nil {
				c.report(diag.Diagnostic{Code: "F0142", Subject: g.place(last), Context: g.Words(), Summary: fmt.Sprintf("%s and %s could wait for each other", upper(g.Words()), taker.Words()),
					Detail: fmt.Sprintf("%s holds quota %q while %s waits for %s, and %s %s. Let %s wait before it holds a quota: add %q to its depends_on.",
						upper(g.Words()), last, n.Words(), to.Words(), taker.Words(), takes, g.Words(), to.Name),
					Notes: []diag.Note{{Text: "this waits", Range: nameRange(n.Block)}, {Text: "this " + takes, Range: nameRange(taker.Block)}}})
				return
			}
		}
	}
}

// awaited lists what a node waits for, but for what its groups wait for.
func (n *Node) awaited(w *Workflow) (out []*Node) {
	for _, names := range [][]string{n.Needs, n.Observes} {
		for _, name := range names {
			if to := w.ByName[name]; to != nil {
				out = append(out, to)
			}
		}
	}
	if n.Before != nil {
		out = append(out, n.Before)
	}
	return out
}

// reach visits all that begins before n has ended, outside of g and of what lies around g.
func (n *Node) reach(w *Workflow, g *Node, seen map[*Node]bool, visit func(*Node)) {
	if seen[n] || n.liesIn(g) || g.liesIn(n) {
		return
	}
	seen[n] = true
	visit(n)
	for up := n; up != nil && !g.liesIn(up); up = up.Parent {
		if up != n && !seen[up] {
			visit(up) // a group takes its quota before anything inside begins
		}
		for _, to := range up.awaited(w) {
			to.reach(w, g, seen, visit)
		}
	}
	for _, child := range n.Children {
		child.reach(w, g, seen, visit)
	}
}

// liesIn reports whether a node is g or lies inside.
func (n *Node) liesIn(g *Node) bool {
	for ; n != nil; n = n.Parent {
		if n == g {
			return true
		}
	}
	return false
}

// heldAround lists the quotas that are held around a node in its workflow.
func (c *checker) heldAround(w *Workflow, n *Node) []string {
	held := slices.Clone(c.unitsOf(w.Block))
	for up := n.Parent; up != nil; up = up.Parent {
		held = append(held, c.unitsOf(up.Block)...)
	}
	return held
}

// ownTakings lists the quotas of which a node itself takes units, or the run that the node calls.
func (c *checker) ownTakings(w *Workflow, n *Node) []string {
	names := slices.Clone(c.unitsOf(n.Block))
	for _, r := range append(c.allAssignees(n), c.judgesOf(n)...) {
		for _, g := range c.assigned(r) {
			names = append(names, c.unitsOf(g)...)
		}
	}
	for _, to := range c.healers(n.escalation) {
		names = append(names, slices.Sorted(maps.Keys(c.takings[to]))...)
	}
	if called := c.called(n); called != nil {
		names = append(names, slices.Sorted(maps.Keys(c.takings[called]))...)
	}
	around := c.heldAround(w, n)
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(around, name) })
}

package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// testPlace is a node that a test can name.
type testPlace struct {
	path string // without keys of instances and numbers of iterations; that of a called run begins with the path of the call
	node *Node
	in   *Workflow
}

// testPlaces are the nodes that the tests of a workflow can name.
type testPlaces struct {
	list   []testPlace
	byPath map[string]testPlace
	byName map[string][]testPlace
	gates  map[string][]ownGate // those that stand in steps
}

// ownGate is a gate that stands in a step.
type ownGate struct {
	*Block
	path string // of the step
}

// maxTestPlaces bounds the nodes that a test can name: workflows can call each other along very many paths.
const maxTestPlaces = 20_000

// placesOf lists the nodes of a workflow, and of those that its nodes call or that heal them, with their paths.
func (c *testChecker) placesOf(w *Workflow) *testPlaces {
	if p := c.known[w]; p != nil {
		return p
	}
	p := c.collectPlaces(func(add func(*Workflow, string)) { add(w, "") })
	c.known[w] = p
	return p
}

// triggered begins the paths of nodes of runs that events and routines start: on:WORKFLOW/NODE.
const triggered = "on:"

// isTriggered reports whether a path begins like that of a node of a run that the test does not start.
func isTriggered(path string) bool {
	return strings.HasPrefix(path, triggered) || strings.HasPrefix(path, forItems)
}

// startsItself reports whether something in the program, or a loop of the test, starts runs by itself.
func (c *testChecker) startsItself() bool {
	return len(c.program.Ons)+len(c.program.Routines) > 0 || c.runs.loops != nil
}

// triggeredPlaces lists the nodes of the workflows that events, routines and the loops of the test start.
func (c *testChecker) triggeredPlaces() *testPlaces {
	key := c.runs.loopNames()
	p := c.triggered[key]
	if p != nil {
		return p
	}
	p = c.collectPlaces(func(add func(*Workflow, string)) {
		c.loopPlaces(add)
		seen := map[string]bool{}
		for _, b := range slices.Concat(c.program.Ons, c.program.Routines) {
			if to := c.workflows[refName(b.attr("workflow"))]; to != nil && !seen[to.Name] {
				seen[to.Name] = true
				add(to, triggered+to.Name+"/")
			}
		}
	})
	c.triggered[key] = p
	return p
}

// collectPlaces lists the nodes of workflows, and of those that their nodes call or that heal them; each adds the workflows.
func (c *testChecker) collectPlaces(each func(add func(w *Workflow, prefix string))) *testPlaces {
	p := &testPlaces{byPath: map[string]testPlace{}, byName: map[string][]testPlace{}, gates: map[string][]ownGate{}}
	var add func(w *Workflow, prefix string)
	started := func(b *Block, prefix string) { // by rules of adapt
		seen := map[string]bool{}
		for _, r := range b.adapts() {
			if to := c.workflows[refName(r.attr("workflow"))]; to != nil && !seen[to.Name] {
				seen[to.Name] = true
				add(to, prefix+"adapt:"+to.Name+"/")
			}
		}
	}
	add = func(w *Workflow, prefix string) {
		started(w.Block, prefix)
		for _, n := range w.All {
			path := n.Name
			for up := n.Parent; up != nil; up = up.Parent {
				path = up.Name + "/" + path
			}
			if len(p.list) == maxTestPlaces {
				return
			}
			place := testPlace{prefix + path, n, w}
			p.list = append(p.list, place)
			p.byPath[place.path], p.byName[n.Name] = place, append(p.byName[n.Name], place)
			for _, g := range n.Gates {
				p.gates[g.Name] = append(p.gates[g.Name], ownGate{g, place.path})
			}
			runs := c.healers(n.escalation)
			if to := c.called(n); to != nil {
				runs = append(runs, to)
			}
			for i, to := range runs {
				if !slices.Contains(runs[:i], to) {
					add(to, place.path+"/")
				}
			}
			started(n.Block, place.path+"/")
		}
	}
	each(add)
	return p
}

// paths lists the paths of all nodes.
func (p *testPlaces) paths() []string {
	out := make([]string, len(p.list))
	for i := range p.list {
		out[i] = p.list[i].path
	}
	return out
}

// keyed finds the keys of instances in a path.
var keyed = lazyregexp.New(`\[[^\[\]]*\]`)

// places are the nodes of the workflows of all runs of the test at hand.
func (c *testChecker) places() []testPlace {
	if len(c.runs.workflows) == 1 && !c.startsItself() {
		return c.placesOf(c.workflow).list
	}
	var list []testPlace
	for _, w := range c.runs.workflows {
		list = append(list, c.placesOf(w).list...)
	}
	return append(list, c.triggeredPlaces().list...)
}

// find gives the node that a path stands for: a whole path, or a name that one node alone has, each behind LABEL/ for a node of one run.
func (c *testChecker) find(path string) (found testPlace, missing *expr.NoName) {
	if c.startsItself() {
		if isTriggered(path) || len(c.runs.workflows) == 0 {
			return c.findAmong(c.triggeredPlaces(), path, "A workflow that an event, a routine or a loop starts")
		}
		defer func() {
			if missing == nil {
				return
			}
			switch p, none := c.findAmong(c.triggeredPlaces(), path, ""); {
			case none == nil:
				found, missing = p, nil
			case none.Summary != "": // several have the name
				missing = none
			}
		}()
	}
	if run, inside := c.runs.split(path); run != nil {
		if found, missing = c.findIn(run.workflow, inside); missing == nil {
			found.path = run.Label + "/" + found.path
		}
		return found, missing
	}
	if len(c.runs.workflows) == 1 {
		return c.findIn(c.workflow, path)
	}
	var in []string
	for _, w := range c.runs.workflows {
		if p, none := c.findIn(w, path); none == nil {
			found, in = p, append(in, w.Name)
		} else if missing == nil {
			missing = none
		}
	}
	switch len(in) {
	case 0:
		return found, missing
	case 1:
		return found, nil
	}
	return found, &expr.NoName{Summary: fmt.Sprintf("Several workflows have a node %q", path),
		Detail: fmt.Sprintf("The runs of the test run the workflows %s. Add the name of a run before the path:  \"%s/%s\".", some(in), c.runs.list[0].Label, path)}
}

// sameNode gives the node of a name that stands in a workflow which several nodes of the tested one run, as an escalation does.
func (c *testChecker) sameNode(name string) (n *Node, same bool) {
	for _, p := range c.places() {
		if p.node.Name != name {
			continue
		}
		if n != nil && n != p.node {
			return nil, false
		}
		n = p.node
	}
	return n, n != nil
}

// findOne is find for the node of one run.
func (c *testChecker) findOne(path string) (found testPlace, missing *expr.NoName) {
	found, missing = c.find(path)
	if run, _ := c.runs.split(path); missing == nil && run == nil && c.runs.started > 0 && !isTriggered(found.path) {
		missing = &expr.NoName{Summary: fmt.Sprintf("Several runs can have a node %q", path),
			Detail: fmt.Sprintf("Write the name of the run before the path:  \"%s/%s\".", c.runs.list[0].Label, path)}
	}
	return found, missing
}

// findIn gives the node of a workflow that a path stands for.
func (c *testChecker) findIn(w *Workflow, path string) (testPlace, *expr.NoName) {
	return c.findAmong(c.placesOf(w), path, fmt.Sprintf("Workflow %q", w.Name))
}

// findAmong gives the node that a path stands for among those of what.
func (c *testChecker) findAmong(places *testPlaces, path, what string) (testPlace, *expr.NoName) {
	plain := keyed().ReplaceAllString(path, "")
	if p, there := places.byPath[plain]; there {
		return p, places.wrongKey(p, path)
	}
	switch named := places.byName[plain]; len(named) {
	case 0:
	case 1:
		return named[0], places.wrongKey(named[0], path)
	default:
		paths := make([]string, len(named))
		for i := range named {
			paths[i] = named[i].path
		}
		return testPlace{}, &expr.NoName{Summary: fmt.Sprintf("Several nodes have the name %q", plain),
			Detail: fmt.Sprintf("Write the path of one of them: %s.", some(paths))}
	}
	var all []string
	known := func() []string {
		if all == nil {
			all = places.paths()
		}
		return all
	}
	if near := c.nearestOf(plain, known); near != "" {
		return testPlace{}, &expr.NoName{Detail: fmt.Sprintf("Did you mean %q?", near)}
	}
	return testPlace{}, &expr.NoName{Detail: fmt.Sprintf("%s has no node of this path. It has %s.", what, some(known()))}
}

// wrongKey says which key of a path belongs to a node without instances; nil where each key has its node.
func (places *testPlaces) wrongKey(p testPlace, path string) *expr.NoName {
	above := strings.TrimSuffix(p.path, keyed().ReplaceAllString(path, ""))
	for _, key := range keyed().FindAllStringIndex(path, -1) {
		before, behind := path[:key[0]], path[key[1]:]
		at := places.byPath[above+keyed().ReplaceAllString(before, "")]
		switch {
		case isTriggered(before) && !strings.Contains(before, "/") && strings.HasPrefix(behind, "/"): // the run of a workflow
		case at.node == nil || strings.HasSuffix(before, "]") || behind != "" && behind[0] != '/':
			return &expr.NoName{Detail: "Write a key once, directly after the name of a node with for_each:  each[0]  or  round[0]/draft."}
		case at.node.attr("for_each") == nil:
			return &expr.NoName{Detail: fmt.Sprintf("%s has no for_each, so it has one instance. Write  %s  without %s.", upper(at.node.Words()), before, path[key[0]:key[1]])}
		}
	}
	return nil
}

// whole is a path that was found with the path of the groups around it.
func (p testPlace) whole(path string) string {
	return strings.TrimSuffix(p.path, keyed().ReplaceAllString(path, "")) + path
}

// gateOf finds a gate by GATE or STEP/GATE; path is that of the step, or "".
func (c *testChecker) gateOf(name string) (g *Block, path string, missing *expr.NoName) {
	if at := strings.LastIndexByte(name, '/'); at >= 0 {
		p, missing := c.find(name[:at])
		if missing != nil {
			return nil, "", missing
		}
		if g = p.node.ownGate(name[at+1:]); g == nil && slices.Contains(gateNames(p.node), name[at+1:]) {
			g = c.gates[name[at+1:]]
		}
		if g == nil {
			detail := fmt.Sprintf("The gates of %s: %s.", p.node.Words(), someOrNone(gateNames(p.node)))
			if near := diag.Nearest(name[at+1:], gateNames(p.node)); near != "" {
				detail = fmt.Sprintf("Did you mean %q?", name[:at+1]+near)
			}
			return nil, "", &expr.NoName{Detail: detail}
		}
		return g, p.path, nil
	}
	top, own, known := c.gates[name], []ownGate(nil), keys(c.gates)
	lists := []*testPlaces{c.triggeredPlaces()}
	for _, w := range c.runs.workflows {
		lists = append(lists, c.placesOf(w))
	}
	for _, p := range lists {
		gates := p.gates
		own = append(own, gates[name]...)
		for name := range gates { // any order: they are sorted below
			known = append(known, name)
		}
	}
	switch {
	case top != nil && len(own) == 0:
		return top, "", nil
	case top == nil && len(own) == 1:
		return own[0].Block, own[0].path, nil
	case len(own) > 0:
		var paths []string
		for _, g := range own {
			paths = append(paths, g.path+"/"+name)
		}
		several := &expr.NoName{Summary: fmt.Sprintf("Several steps have a gate %q", name), Detail: fmt.Sprintf("Write the path of the step and the gate: %s.", some(paths))}
		if top != nil {
			several.Summary = fmt.Sprintf("Several gates have the name %q", name)
			several.Detail = fmt.Sprintf("One is at the top of the program. For the gate of a step, write the path of the step and the gate: %s.", some(paths))
		}
		return nil, "", several
	}
	slices.Sort(known)
	known = slices.Compact(known)
	if near := c.nearestOf(name, func() []string { return known }); near != "" {
		return nil, "", &expr.NoName{Detail: fmt.Sprintf("Did you mean %q?", near)}
	}
	return nil, "", &expr.NoName{Detail: fmt.Sprintf("Gates of the program: %s.", someOrNone(known))}
}

// judges lists the agents that can judge for a gate; nil if no agent does.
func (c *testChecker) judges(g *Block) []*Block {
	review := g.Inner("review")
	if review == nil || review.attr("agent") == nil {
		return nil
	}
	var list []*Block
	for _, r := range review.attr("agent").Names {
		if r.Pool {
			list = append(list, c.membersOf(c.pools[r.Name])...)
		} else if c.agents[r.Name] != nil {
			list = append(list, c.agents[r.Name])
		}
	}
	return list
}

func someOrNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return some(names)
}

// gateNames lists the gates of a step.
func gateNames(n *Node) (out []string) {
	for _, g := range n.Gates {
		out = append(out, g.Name)
	}
	if a := n.attr("gates"); a != nil {
		for _, r := range a.Names {
			out = append(out, r.Name)
		}
	}
	return out
}

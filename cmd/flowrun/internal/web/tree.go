package web

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

const (
	// maxRows bounds the rows of the tree of a run on one page.
	maxRows = 400
	// maxChildren is how many nodes below one are shown without asking for them.
	maxChildren = 60
	// maxFailures bounds the failures that are named above the tree.
	maxFailures = 50
)

// twig is a node in the tree of a run.
type twig struct {
	*view.NodeDoc
	name   string
	below  []*twig
	counts map[event.Status]int // of the nodes below that have none below, and of the node itself if it has none
}

// row is a line of the tree on a page.
type row struct {
	*view.NodeDoc
	Name   string
	Depth  int
	Below  int    // how many nodes are directly below
	Folded bool   // they are not shown
	Counts string // of the leaves below, such as "29 of 60 succeeded, 1 failed"
}

// grow makes the tree of a run.
func grow(nodes []view.NodeDoc) (roots []*twig, byPath map[string]*twig) {
	byPath = make(map[string]*twig, len(nodes))
	for i := range nodes {
		n := &nodes[i]
		t := &twig{NodeDoc: n}
		byPath[n.ID] = t
		up := byPath[view.Parent(n.ID)]
		if up == nil {
			t.name, roots = n.ID, append(roots, t)
			continue
		}
		t.name = strings.TrimPrefix(n.ID[len(up.ID):], "/")
		up.below = append(up.below, t)
	}
	for _, t := range roots {
		t.count()
	}
	return roots, byPath
}

func (t *twig) count() map[event.Status]int {
	t.counts = map[event.Status]int{}
	if len(t.below) == 0 {
		t.counts[t.Status]++
	}
	for _, b := range t.below {
		for status, n := range b.count() { // any order: sums
			t.counts[status] += n
		}
	}
	return t.counts
}

// rows lists a tree, level by level as far as the page has room, in the order of the file.
func rows(roots []*twig) []row { return rowsUpTo(roots, maxRows, maxChildren) }

// rowsUpTo is rows with room for so many, of which one node may have so many below it.
func rowsUpTo(roots []*twig, most, children int) []row {
	open, left := map[*twig]bool{}, most-len(roots)
	for level := roots; len(level) > 0; {
		var next []*twig
		for _, t := range level {
			if n := len(t.below); n > 0 && n <= children && n <= left {
				open[t] = true
				left -= n
				next = append(next, t.below...)
			}
		}
		level = next
	}
	var out []row
	var add func(list []*twig, depth int)
	add = func(list []*twig, depth int) {
		for _, t := range list {
			r := row{NodeDoc: t.NodeDoc, Name: t.name, Depth: depth, Below: len(t.below), Folded: len(t.below) > 0 && !open[t]}
			if len(t.below) > 0 {
				r.Counts = tally(t.counts)
			}
			out = append(out, r)
			if open[t] {
				add(t.below, depth+1)
			}
		}
	}
	add(roots, 0)
	return out
}

// order is the order in which statuses are counted.
var order = []event.Status{event.Succeeded, event.FailedS, event.Running, event.Waiting, event.Cancelled, event.Blocked, event.Skipped, event.Pending}

// tallyOf says how many leaves of a tree have which status.
func tallyOf(roots []*twig) string {
	counts := map[event.Status]int{}
	for _, t := range roots {
		for s, n := range t.counts { // any order: sums
			counts[s] += n
		}
	}
	return tally(counts)
}

// tally says how many nodes have which status.
func tally(counts map[event.Status]int) string {
	total, parts := 0, []string{}
	for _, n := range counts { // any order: a sum
		total += n
	}
	for _, s := range order {
		if n := counts[s]; n == total && n > 1 {
			return "all " + number(n) + " " + string(s)
		} else if n > 0 {
			part := number(n) + " " + string(s)
			if len(parts) == 0 && total > 1 {
				part = number(n) + " of " + number(total) + " " + string(s)
			}
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

// failures are the nodes that failed by themselves: a group that failed because of one below is left out.
func failures(nodes []view.NodeDoc, byPath map[string]*twig) (list []*view.NodeDoc, more int) {
	for i := range nodes {
		n := &nodes[i]
		t := byPath[n.ID]
		if n.Status != event.FailedS || slices.ContainsFunc(t.below, func(b *twig) bool { return b.counts[event.FailedS] > 0 }) {
			continue
		}
		if len(list) == maxFailures {
			more++
		} else {
			list = append(list, n)
		}
	}
	return list, more
}

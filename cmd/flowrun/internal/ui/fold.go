package ui

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// Bounds of the direct children of a node that are shown: MaxParts in all, but as many as MaxFailuresShown failures and MaxParts
// running or waiting ones. A number of nodes up to MaxParts is shown in full.
const (
	MaxParts         = 20
	MaxFailuresShown = 100
)

// heat orders nodes by how much a reader wants to see them.
type heat int

const (
	quiet  heat = iota
	active      // it runs, waits or was cancelled
	failing
)

// heatOf is the highest heat of a node and of the nodes below it.
func heatOf(n *view.Node) heat {
	h := quiet
	switch n.Status {
	case event.FailedS:
		return failing
	case event.Running, event.Waiting, event.Cancelled:
		h = active
	}
	for _, c := range n.Children {
		if h = max(h, heatOf(c)); h == failing {
			break
		}
	}
	return h
}

// fold picks the nodes of a list that are shown: failures first, then what is active, then the last ones. It keeps their order, and
// says in words what it left out; "" if that is nothing.
func fold(list []*view.Node) (shown []*view.Node, left string) {
	if len(list) <= MaxParts {
		return list, ""
	}
	heats, room := make([]heat, len(list)), [...]int{quiet: MaxParts, active: MaxParts, failing: MaxFailuresShown}
	taken := make([]bool, len(list))
	for i, n := range list {
		heats[i] = heatOf(n)
	}
	for h := failing; h >= quiet; h-- {
		for i := range list {
			if h == quiet {
				i = len(list) - 1 - i // the last ones
			}
			if heats[i] == h && room[h] > 0 {
				taken[i] = true
				room[quiet]--
				if h != quiet {
					room[h]--
				}
			}
		}
	}
	counts := map[event.Status]int{}
	for i, n := range list {
		if taken[i] {
			shown = append(shown, n)
		} else {
			counts[n.Status]++
		}
	}
	var parts []string
	for _, s := range statusOrder {
		if counts[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[s], s))
		}
	}
	return shown, "… not shown: " + strings.Join(parts, ", ") + " (--all)"
}

// statusOrder is the order of statuses in a summary.
var statusOrder = []event.Status{event.Succeeded, event.FailedS, event.Blocked, event.Cancelled, event.Skipped, event.Running, event.Waiting, event.Pending}

// rowsOf lists nodes and all below them, in the order of the view. Long lists are folded unless all are wanted.
func rowsOf(list []*view.Node, depth int, stands event.Time, all bool) (out []rowNode) {
	left := ""
	if !all {
		list, left = fold(list)
	}
	if left != "" {
		out = append(out, rowNode{depth: depth, folded: left})
	}
	for _, n := range list {
		out = append(out, rowNode{n: n, depth: depth, stands: stands})
		out = append(out, rowsOf(n.Children, depth+1, stands, all)...)
	}
	return out
}

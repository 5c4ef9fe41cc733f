package view

import (
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/runner/event"
)

// Find lists the nodes that a word means: the node with this path; else the instances whose path it is with quoted keys, or
// with the names of items in place of keys, such as copy["b"] or copy[1] "b"; else the nodes of this name.
func (r *Run) Find(word string) []*Node {
	if n := r.byPath[word]; n != nil {
		return []*Node{n}
	}
	if list := find(r.Roots, word); len(list) > 0 {
		return list
	}
	return r.Named(word)
}

// WithoutWorktree lists the items that the run of a loop did not do because their worktrees could not be made.
func (r *Run) WithoutWorktree() (list []*Node) {
	for _, root := range r.Roots {
		for _, n := range root.Children {
			if n.Status == event.Skipped && strings.HasPrefix(n.Reason, event.NoWorktree) {
				list = append(list, n)
			}
		}
	}
	return list
}

// FindLive is [Run.Find] without nodes that have ended, if there are others.
func (r *Run) FindLive(word string) []*Node {
	list := r.Find(word)
	if live := slices.DeleteFunc(slices.Clone(list), func(n *Node) bool { return n.Status.Terminal() }); len(live) > 0 {
		return live
	}
	return list
}

// find lists the nodes of a level, and below it, that the rest of a path means.
func find(nodes []*Node, rest string) (list []*Node) {
	for _, n := range nodes {
		own := n.Path
		if n.Parent != nil {
			own = n.Path[len(n.Parent.Path):]
		}
		for _, spelled := range n.spellings(own) {
			after, begins := strings.CutPrefix(rest, spelled)
			switch {
			case !begins:
				continue
			case after == "":
				list = append(list, n)
			case after[0] == '/' || after[0] == '[':
				list = append(list, find(n.Children, after)...)
			}
			break
		}
	}
	return list
}

// spellings lists how people write the last part of a node's path.
func (n *Node) spellings(own string) []string {
	if !strings.HasPrefix(own, "[") {
		return []string{own}
	}
	if n.Item == "" {
		return []string{own, "[" + strconv.Quote(own[1:len(own)-1]) + "]"}
	}
	return []string{own + " " + n.Item, own, "[" + n.Item + "]"}
}

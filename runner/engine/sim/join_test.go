package sim_test

import (
	"regexp"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

var iteration = regexp.MustCompile(`^i[0-9]+$`)

// joinOf tells whether a path is where a node's join decides: the whole of its instances, or the group, in each iteration.
func joinOf(n *ir.Node, path string) bool {
	if n.ForEach == nil && n.Repeat != nil {
		return iteration.MatchString(view.Base(path)) && view.Base(view.Parent(path)) == n.Name
	}
	return view.Base(path) == n.Name && path[len(path)-1] != ']'
}

// joins checks every node that says itself when it has enough: one that succeeded had it. Which of the others ended how
// depends on time.
func (c *simulation) joins(run *seen) {
	j := run.j
	children := map[string][]string{}
	for path := range j.status { // any order: they are counted
		if path != "" {
			children[view.Parent(path)] = append(children[view.Parent(path)], path)
		}
	}
	eachNode(run.w.Nodes, func(n *ir.Node) {
		for path, s := range j.status {
			if path == "" || n.Join == nil || s != event.Succeeded || !joinOf(n, path) {
				continue
			}
			succeeded, ended, bad := 0, 0, 0
			for _, child := range children[path] {
				switch s := j.status[child]; {
				case s == event.Succeeded:
					succeeded++
					ended++
				case s == event.FailedS && j.tolerated[child]:
					ended++
				case s.Bad():
					bad++
				}
			}
			enough := false
			switch {
			case strings.HasPrefix(n.Name, "f"): // a pattern's
				enough = succeeded > 0
			case n.Join.Count != nil:
				enough = succeeded >= joined
			case n.Join.Condition != nil:
				enough = succeeded > 0 || len(children[path]) == 0
			case n.Join.Word == "first_success":
				enough = succeeded > 0
			case n.Join.Word == "any":
				enough = ended > 0 || bad == 0
			default:
				enough = bad == 0
			}
			if !enough {
				c.t.Errorf("seed %d: %s succeeded with %d of %d children, of which %d ended well enough", c.seed, path, succeeded, len(children[path]), ended)
			}
		}
	})
}

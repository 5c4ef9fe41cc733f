package tasks

import (
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/runner/plan"
)

// place is where a node's instance lies: its declared name at each level, with the instance of a for_each and the iteration of a
// repeat that it belongs to there.
type place struct {
	node      int
	whole     string // the path of a for_each as a whole, or of the node
	instance  string // the path of the instance; of a node without for_each the same
	iteration int    // 0: the node has no repeat, or it is the repeat as a whole
}

// places takes a path apart, from the outermost group to the node itself. It gives nil for what is not a path of the workflow.
func places(g *plan.Graph, path string) (out []place) {
	for at := 0; at < len(path); {
		end := at + strings.IndexAny(path[at:]+"/", "/[")
		n := g.Number(path[at:end])
		if n == plan.None {
			return nil
		}
		p := place{node: n, whole: path[:end]}
		if end < len(path) && path[end] == '[' {
			key := end + 1
			if quoted, err := strconv.QuotedPrefix(path[key:]); err == nil {
				key += len(quoted)
			} else {
				key += strings.IndexByte(path[key:]+"]", ']')
			}
			end = min(key+1, len(path))
		}
		p.instance = path[:end]
		at = min(end+1, len(path))
		if g.Nodes[n].Loop != plan.None && at < len(path) && path[at] == 'i' {
			end = at + strings.IndexByte(path[at:]+"/", '/')
			p.iteration, _ = strconv.Atoi(path[at+1 : end])
			at = min(end+1, len(path))
		}
		out = append(out, p)
	}
	return out
}

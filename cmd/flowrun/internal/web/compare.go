package web

import (
	"net/http"

	runview "github.com/flowrun/flowrun/runner/view"
)

// comparePage is two runs beside each other.
type comparePage struct {
	AskedA, AskedB string
	All            bool
	Comparison     *runview.Comparison // nil: no runs are named yet
	Left           int                 // nodes that are left out
}

// maxCompared bounds the nodes of a comparison on a page.
const maxCompared = 400

func (p *Pages) showCompare(_ http.ResponseWriter, r *http.Request) (any, error) {
	q := r.URL.Query()
	d := comparePage{AskedA: q.Get("a"), AskedB: q.Get("b"), All: q.Get("all") != ""}
	if d.AskedA == "" || d.AskedB == "" {
		return d, nil
	}
	all := "false"
	if d.All {
		all = "true"
	}
	c, err := get[runview.Comparison](p, r, "/runs/%s/compare?with=%s&all=%s", d.AskedB, d.AskedA, all)
	if n := len(c.Nodes) - maxCompared; n > 0 {
		d.Left, c.Nodes = n, c.Nodes[:maxCompared]
	}
	d.Comparison = &c
	return d, err
}

package graph

import (
	"cmp"
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
)

// Starts says in words what starts a workflow of a program by itself: routines, events and loops, in the order of the program. nil: nothing does.
func Starts(p *ir.Program, workflow string) (out []string) {
	when := func(e *ir.Expr) string {
		if e == nil {
			return ""
		}
		return " when " + e.Text
	}
	for i := range p.Routines {
		if r := &p.Routines[i]; r.Workflow == workflow {
			out = append(out, fmt.Sprintf("routine %s (%s)", r.Name, cmp.Or(r.Cron, "every "+r.Every.String())))
		}
	}
	for i := range p.Ons {
		if o := &p.Ons[i]; o.Workflow == workflow {
			out = append(out, fmt.Sprintf("event %s%s", o.Event, when(o.When)))
		}
	}
	for i := range p.Loops {
		l := &p.Loops[i]
		for k := range l.Handles {
			if h := &l.Handles[k]; h.Workflow == workflow {
				where := ""
				if l.Worktree {
					where = ", each in a git worktree"
				}
				out = append(out, fmt.Sprintf("items of loop %s%s%s", l.Name, when(h.When), where))
			}
		}
		for k := range l.Sources {
			for _, name := range l.Sources[k].Rotate {
				if name == workflow {
					out = append(out, fmt.Sprintf("loop %s when it has nothing else to do", l.Name))
				}
			}
		}
	}
	return out
}

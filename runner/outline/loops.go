package outline

import "github.com/flowrun/flowrun/dsl/ir"

// Loop is a loop that starts the workflow, and says of itself more than when.
type Loop struct {
	Name string `json:"name"`
	// Quotas are those for which the whole loop waits, and Bounds the bounds of each in words.
	Quotas []Resource `json:"quotas,omitempty"`
	// Targets are what the loop is to reach, in words: success_rate at least 0.9.
	Targets []string `json:"targets,omitempty"`
}

// loops lists the loops of the program that start the workflow, and that have a quota or a target.
func (o *outliner) loops() (out []Loop) {
	for i := range o.g.Program.Loops {
		l := &o.g.Program.Loops[i]
		if !l.Starts(o.g.Workflow.Name) {
			continue
		}
		shown := Loop{Name: l.Name}
		for _, u := range l.Quotas {
			q := o.g.Program.Quota(u.Quota)
			shown.Quotas = append(shown.Quotas, Resource{Kind: "quota", Name: q.Name, Bounds: o.quota(q), UsedBy: []Use{}})
		}
		if t := l.Target; t != nil {
			for _, f := range []struct {
				words string
				bound *ir.Expr
			}{{"throughput at least ", t.Throughput}, {"success_rate at least ", t.SuccessRate}, {"mean_time at most ", t.MeanTime}, {"idle at most ", t.Idle},
				{"retry_rate at most ", t.RetryRate}, {"escalation_rate at most ", t.EscalationRate}} {
				if f.bound != nil {
					shown.Targets = append(shown.Targets, f.words+o.text(f.bound))
				}
			}
		}
		if len(shown.Quotas)+len(shown.Targets) > 0 {
			out = append(out, shown)
		}
	}
	return out
}

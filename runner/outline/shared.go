package outline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/plan"
)

// Resource is an agent, a quota or a pool of the workflow: what bounds it over all runs of a store, and which nodes use it. Agents without
// bounds are left out.
type Resource struct {
	Kind string `json:"kind"` // agent, quota or pool
	Name string `json:"name"`
	// Bounds are its bounds in words: 2 units, 1 at once, 100 starts in 1m. Of a pool they are its strategy and its members with their
	// capabilities.
	Bounds []string `json:"bounds"`
	// UsedBy are the nodes that use it, in file order, each with what it takes or asks for; "" is the run itself.
	UsedBy []Use `json:"used_by"`
}

// Use is what a node uses of a resource.
type Use struct {
	Node string `json:"node"`
	// Units is how many units of a quota the node takes, as the file has it; "" for others.
	Units string `json:"units,omitempty"`
	// Holds tells that a group, a call or the run holds the units until it has ended.
	Holds bool `json:"holds,omitempty"`
	// Capabilities are those that the step asks for of a pool or an agent.
	Capabilities []string `json:"capabilities,omitempty"`
}

// Budget is one of the workflow, whose Node is "", or of a node.
type Budget struct {
	Node   string   `json:"node"`
	Bounds []string `json:"bounds"` // in words: 20 attempts, 2.5 dollars
}

// text is an expression as a reader would write it, or what it is known to give.
func (o *outliner) text(e *ir.Expr) string {
	if v, ok := o.known(e); ok {
		return value.Text(v)
	}
	return e.Text
}

// limits are a rate limit and a circuit breaker in words.
func (o *outliner) limits(pace *ir.RateLimit, breaker *ir.Breaker) (out []string) {
	if pace != nil {
		out = append(out, fmt.Sprintf("at most %s starts in %s", o.text(&pace.Requests), o.text(&pace.Per)))
	}
	if breaker != nil {
		failures, reset := fmt.Sprint(ir.DefaultFailures), ir.DefaultReset.String()
		if breaker.Failures != nil {
			failures = o.text(breaker.Failures)
		}
		if breaker.Reset != nil {
			reset = o.text(breaker.Reset)
		}
		out = append(out, fmt.Sprintf("open for %s after %s failures in a row", reset, failures))
		if len(breaker.Notify) > 0 {
			out = append(out, "tells "+strings.Join(breaker.Notify, ", "))
		}
	}
	return out
}

// quota are the bounds of a quota in words, without its capacity.
func (o *outliner) quota(q *ir.Quota) (out []string) {
	if s := q.Spending; s != nil {
		for _, words := range o.amounts(s.Attempts, s.Tokens, s.CostUSD) {
			out = append(out, fmt.Sprintf("at most %s in %s", words, o.text(&s.Per)))
		}
	}
	return append(out, o.limits(q.RateLimit, q.Breaker)...)
}

// amounts are amounts of what attempts use, in words. nil: no bound.
func (o *outliner) amounts(attempts, tokens, dollars *ir.Expr) (out []string) {
	for _, p := range []struct {
		most *ir.Expr
		unit string
	}{{attempts, "attempts"}, {tokens, "tokens"}, {dollars, "dollars"}} {
		if p.most != nil {
			out = append(out, o.text(p.most)+" "+p.unit)
		}
	}
	return out
}

// shared lists what the run shares with others, and the budgets in it.
func (o *outliner) shared(out *Outline) {
	agents, quotas, pools := map[string]*Resource{}, map[string]*Resource{}, map[string]*Resource{}
	var listed []*Resource
	enter := func(of map[string]*Resource, kind, name string, bounds []string, use Use) {
		if of[name] == nil {
			of[name] = &Resource{Kind: kind, Name: name, Bounds: append([]string{}, bounds...)}
			listed = append(listed, of[name])
		}
		same := func(u Use) bool { return u.Node == use.Node && u.Units == use.Units && u.Holds == use.Holds }
		if !slices.ContainsFunc(of[name].UsedBy, same) {
			of[name].UsedBy = append(of[name].UsedBy, use)
		}
	}
	take := func(node string, uses []ir.QuotaUse, holds bool) {
		for _, u := range uses {
			q := o.g.Program.Quota(u.Quota)
			var bounds []string
			use := Use{Node: node, Holds: holds}
			if q.Capacity != nil {
				bounds, use.Units = []string{o.text(q.Capacity) + " units"}, "1"
			}
			if u.Units != nil {
				use.Units = o.text(u.Units)
			}
			enter(quotas, "quota", u.Quota, append(bounds, o.quota(q)...), use)
		}
	}
	o.budget(out, "", o.g.Workflow.Budget)
	take("", o.g.Workflow.Quotas, true)
	for i := range o.g.Nodes {
		n := &o.g.Nodes[i]
		path := o.path(i)
		o.budget(out, path, n.Budget)
		take(path, n.Quotas, n.Kind != ir.Step || n.Action.Kind().Course() == ir.Called)
		var wanted []string
		if task, is := n.Action.(*ir.AgentTask); is {
			wanted = task.Capabilities
		}
		for _, a := range append([]*plan.Assignee{n.Own, n.Else}, n.Others...) {
			if a == nil {
				continue
			}
			if a.Pool != nil {
				enter(pools, "pool", a.Pool.Name, poolWords(a.Pool), Use{Node: path, Capabilities: wanted})
			}
			for _, g := range a.Members {
				var bounds []string
				if g.Concurrency != nil {
					bounds = append(bounds, o.text(g.Concurrency)+" at once")
				}
				if bounds = append(bounds, o.limits(g.RateLimit, g.Breaker)...); len(bounds) > 0 {
					enter(agents, "agent", g.Name, bounds, Use{Node: path, Capabilities: wanted})
				}
				take(path, g.Quotas, false)
			}
		}
	}
	for _, r := range listed {
		out.Shared = append(out.Shared, *r)
	}
	slices.SortStableFunc(out.Shared, func(a, b Resource) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
}

// poolWords are the strategy and the members of a pool.
func poolWords(p *plan.Pool) []string {
	words := []string{string(p.Strategy)}
	if p.Strategy == "" {
		words[0] = string(ir.LeastBusy)
	}
	for _, g := range p.Members {
		word := g.Name
		if len(g.Capabilities) > 0 {
			word += " (" + strings.Join(g.Capabilities, ", ") + ")"
		}
		words = append(words, word)
	}
	return words
}

func (o *outliner) budget(out *Outline, node string, b *ir.Budget) {
	if b == nil {
		return
	}
	out.Budgets = append(out.Budgets, Budget{node, o.amounts(b.Attempts, b.Tokens, b.CostUSD)})
}

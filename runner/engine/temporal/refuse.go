package temporal

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// Refused says what of a program this host does not carry. Nothing of the run was started.
type Refused struct {
	Why []string
}

func (r *Refused) Error() string {
	return "the engine on Temporal does not carry this program:\n  " + strings.Join(r.Why, "\n  ")
}

// Refuse returns a *Refused if this host cannot carry a run of a workflow, and nil otherwise. What it lets pass works as with the local
// engine.
func Refuse(p *ir.Program, workflow string, first *event.RunStarted) error {
	c := &check{program: p, seen: map[string]bool{}}
	if p.Loop(workflow) != nil {
		c.add("%q is a loop: the daemon of a store runs loops", workflow)
	}
	for _, name := range slices.Sorted(maps.Keys(first.Secrets)) {
		if first.Secrets[name].From == told {
			c.add("%s was given on the command line, which no worker has: give it in a variable of the environment of apply and of the workers, or in a file that all of them have", name)
		}
	}
	if len(first.Results) > 0 {
		c.add("the run repeats another one, whose results lie in a store")
	}
	for i := range p.Agents {
		c.agent(&p.Agents[i])
	}
	for i := range p.Gates {
		if p.Gates[i].Benchmark != nil {
			c.add("the gate %q has a benchmark: its baseline lies in a store", p.Gates[i].Name)
		}
	}
	c.workflow(workflow)
	if c.why == nil {
		return nil
	}
	return &Refused{c.why}
}

// told is the place of a secret that a person gave; see package given.
const told = "told"

// check gathers what is refused.
type check struct {
	program *ir.Program
	seen    map[string]bool // workflows
	why     []string
}

func (c *check) add(format string, args ...any) { c.why = append(c.why, fmt.Sprintf(format, args...)) }

func (c *check) agent(a *ir.Agent) {
	for _, x := range []struct {
		has  bool
		what string
	}{
		{a.Type == ir.AgentHuman, "is a person: people are asked by the inbox of a store"},
		{a.Memory != nil, "has a memory, which lies in a store"},
		{a.Concurrency != nil, "has a concurrency, which runs share"},
		{a.RateLimit != nil, "has a rate_limit, which runs share"},
		{a.Breaker != nil, "has a circuit_breaker, which runs share"},
		{len(a.Quotas) > 0, "takes quotas, which runs share"},
	} {
		if x.has {
			c.add("the agent %q %s", a.Name, x.what)
		}
	}
}

func (c *check) workflow(name string) {
	w := c.program.Workflow(name)
	if w == nil || c.seen[name] {
		return
	}
	c.seen[name] = true
	at := fmt.Sprintf("workflow %q", name)
	if w.Concurrency != nil {
		c.add("%s has a concurrency group: runs take turns in a store", at)
	}
	if len(w.Quotas) > 0 {
		c.add("%s holds quotas, which runs share", at)
	}
	c.budget(at, w.Budget)
	c.adapt(at, w.Adapt)
	for n := range ir.All(w.Nodes) {
		c.node(n)
	}
	if w.Finally != nil {
		for n := range ir.All(w.Finally.Nodes) {
			c.node(n)
		}
	}
}

func (c *check) budget(at string, b *ir.Budget) {
	if b != nil && b.OnExceed == ir.OnExceedAsk {
		c.add("the budget of %s asks people: they are asked by the inbox of a store", at)
	}
	if b != nil && len(b.Notify) > 0 {
		c.add("the budget of %s tells channels: messages are sent by a store", at)
	}
}

func (c *check) adapt(at string, list []ir.Adapt) {
	if len(list) > 0 {
		c.add("%s adapts: the figures that its rules read are those of one machine", at)
	}
}

func (c *check) node(n *ir.Node) {
	at := fmt.Sprintf("%s %q", n.Word(), n.Name)
	if len(n.Quotas) > 0 {
		c.add("%s takes quotas, which runs share", at)
	}
	if n.Escalate != "" {
		c.add("%s escalates: people are asked by the inbox of a store", at)
	}
	if n.Deadline != nil && len(n.Deadline.Notify) > 0 {
		c.add("the deadline of %s tells channels: messages are sent by a store", at)
	}
	c.budget(at, n.Budget)
	c.adapt(at, n.Adapt)
	switch x := n.Action.(type) {
	case *ir.Call:
		c.workflow(x.Workflow)
	case *ir.Wait:
		if x.Event != "" {
			c.add("%s waits for an event: events lie in a store", at)
		}
	case *ir.Run, *ir.AgentTask, *ir.Value, *ir.HTTP, *ir.Fail, *ir.End, nil:
	case *ir.Remember, *ir.Recall:
		c.add("%s uses the memory, which lies in a store", at)
	case *ir.KV, *ir.Emit, *ir.Sync, *ir.Handoff:
		c.add("%s (%s) uses what runs of a store share", at, x.Kind())
	case *ir.Notify:
		c.add("%s tells channels: messages are sent by a store", at)
	case *ir.Approve:
		c.add("%s asks for an approval: people are asked by the inbox of a store", at)
	default:
		c.add("%s (%s) is not carried", at, x.Kind())
	}
}

// ErrShared is the error of what a store does and this host does not.
var ErrShared = errors.New("runs on Temporal share nothing: agents, quotas, values, events and people are those of a store")

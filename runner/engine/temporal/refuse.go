package temporal

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// Refused says what of a program this host does not carry. Nothing of the run was started.
type Refused struct {
	Why []string
}

func (r *Refused) Error() string {
	return "the engine on Temporal does not carry this program:\n  " + strings.Join(r.Why, "\n  ")
}

// Is lets errors.Is find engine.ErrRefused.
func (r *Refused) Is(target error) bool { return target == engine.ErrRefused }

// Refuse returns a *Refused if this host cannot carry a run of a workflow, and nil otherwise. What it lets pass works as with the local
// engine.
func Refuse(p *ir.Program, workflow string, first *event.RunStarted) error {
	c := &check{program: p, seen: map[string]bool{}}
	for _, name := range slices.Sorted(maps.Keys(first.Secrets)) {
		if first.Secrets[name].From == told {
			c.add("%s was given on the command line, which no worker has: give it in a variable of the environment of apply and of the workers, or in a file that all of them have", name)
		}
	}
	if len(first.Results) > 0 {
		c.add("the run repeats another one, whose results are in a store")
	}
	c.workflow(workflow)
	for i := range p.Ons {
		switch on := &p.Ons[i]; {
		case on.Hook != nil:
			c.add("on %q takes deliveries over HTTP, which the daemon of a store does: publish the event instead", on.Event)
		case on.Files != nil:
			c.add("on %q watches files of one machine, which the daemon of a store does: publish the event instead", on.Event)
		default:
			c.workflow(on.Workflow)
		}
	}
	for i := range p.Routines {
		c.workflow(p.Routines[i].Workflow)
	}
	for i := range p.Loops {
		l := &p.Loops[i]
		for j := range l.Handles {
			c.workflow(l.Handles[j].Workflow)
		}
		for j := range l.Sources {
			for k := range l.Sources[j].Rotate {
				c.workflow(l.Sources[j].Rotate[k])
			}
		}
	}
	for i := range p.Escalations {
		for j := range p.Escalations[i].Levels {
			if call := p.Escalations[i].Levels[j].Heal; call != nil {
				c.workflow(call.Workflow)
			}
		}
	}
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

func (c *check) workflow(name string) {
	w := c.program.Workflow(name)
	if w == nil || c.seen[name] {
		return
	}
	c.seen[name] = true
	c.adapt(fmt.Sprintf("workflow %q", name), w.Adapt)
	for n := range ir.All(w.Nodes) {
		c.node(n)
	}
	if w.Finally != nil {
		for n := range ir.All(w.Finally.Nodes) {
			c.node(n)
		}
	}
}

func (c *check) adapt(at string, list []ir.Adapt) {
	for i := range list {
		for _, r := range list[i].Reads() {
			if r.Root == "metrics" && (r.Name == "cpu" || r.Name == "memory" || r.Name == "") {
				c.add("%s adapts to cpu or memory, which are figures of one machine: count attempts, failures, tokens or costs, or lower the slots of the workers", at)
				return
			}
		}
		if list[i].Call != nil {
			c.workflow(list[i].Call.Workflow)
		}
	}
}

func (c *check) node(n *ir.Node) {
	at := fmt.Sprintf("%s %q", n.Word(), n.Name)
	c.adapt(at, n.Adapt)
	switch x := n.Action.(type) {
	case *ir.Call:
		c.workflow(x.Workflow)
	case *ir.Run, *ir.AgentTask, *ir.Value, *ir.HTTP, *ir.Fail, *ir.End, *ir.Wait, *ir.KV, *ir.Emit, *ir.Sync, *ir.Handoff, *ir.Notify, *ir.Approve, *ir.Remember, *ir.Recall, nil:
	default:
		c.add("%s (%s) is not carried", at, x.Kind())
	}
}

// CheckProgram is the Check of a client that starts runs of real programs.
func CheckProgram(load func(hash string, definition []byte) (*ir.Program, error)) func(*engine.Start) error {
	return func(s *engine.Start) error {
		p, err := load(s.Header.Definition, s.Definition)
		if err != nil {
			return err
		}
		return Refuse(p, s.Header.Workflow, &s.First)
	}
}

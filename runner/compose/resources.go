package compose

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// MaxShares is the largest share of the processors.
const MaxShares = 262144

// composeResources computes what bounds the processes of an agent. Other agents have none.
func (c *Composer) composeResources(a *event.Attempt, g *ir.Agent, sc *Scope) (place string, err error) {
	r := g.Resources
	if r == nil || r.CPUShares == nil && r.Memory == nil || g.Type != ir.AgentExec && g.Type != ir.AgentShell && g.Type != ir.AgentMCP && g.Type != ir.AgentACP {
		return "", nil
	}
	a.Resources = &event.Resources{}
	if r.CPUShares != nil {
		if a.Resources.CPUShares, err = c.evalWhole(r.CPUShares, sc, 2, MaxShares); err != nil {
			return fmt.Sprintf("cpu_shares of agent %q", g.Name), err
		}
	}
	if r.Memory != nil {
		text, err := c.Text(r.Memory, sc)
		if err == nil {
			a.Resources.Memory, err = value.ParseMemory(text)
		}
		if err != nil {
			return fmt.Sprintf("memory of agent %q", g.Name), err
		}
	}
	return "", nil
}

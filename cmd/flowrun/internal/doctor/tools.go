package doctor

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// aboutTools asks the MCP servers of agents for their tools. It calls none of them.
func (d *Doctor) aboutTools(p *ir.Program, path string) (out []ui.Finding) {
	for i := range p.Agents {
		g := &p.Agents[i]
		if g.Tool != nil {
			out = append(out, d.aboutServer(path, g.Name, "", []ir.Tool{*g.Tool}))
		}
		if g.Chat == nil {
			continue
		}
		for j := range g.Servers {
			s := &g.Servers[j]
			out = append(out, d.aboutServer(path, g.Name, s.Name, s.Tools))
		}
	}
	return out
}

// aboutServer compares the tools that an agent uses with those of the server.
func (d *Doctor) aboutServer(path, agent, server string, tools []ir.Tool) ui.Finding {
	of, again := "the server of agent "+agent, "flowrun agents pin "+agent
	if server != "" {
		of, again = fmt.Sprintf("server %s of agent %s", server, agent), again+" --server "+server
	}
	described, err := d.Tools(path, agent, server)
	if err != nil {
		return wrong("tools", fmt.Sprintf("%s: %v", of, err), "Start it by hand to see what is wrong; a variable that it reads may need a value.")
	}
	said, names := map[string]value.Value{}, []string(nil)
	for _, t := range described {
		if o, ok := t.(map[string]any); ok {
			name := value.Text(o["name"])
			said[name], names = t, append(names, ui.Clean(name))
		}
	}
	var missing, changed []string
	for _, t := range tools {
		switch now := said[t.Name]; {
		case now == nil:
			missing = append(missing, ui.Quote(t.Name))
		case t.Pin != nil && !value.Equal(t.Pin, now):
			changed = append(changed, ui.Quote(t.Name))
		}
	}
	switch {
	case missing != nil:
		return wrong("tools", fmt.Sprintf("%s lacks %s; it has %s", of, strings.Join(missing, ", "), ui.First(names, 10)), "Correct the name of the tool in the file.")
	case changed != nil:
		return wrong("tools", fmt.Sprintf("%s describes %s in other words than the pin", of, strings.Join(changed, ", ")),
			"Read the new descriptions ("+again+"), and pin them if they are right.")
	}
	return fine("tools", fmt.Sprintf("%s has %s that the agent uses", of, ui.Count(len(tools), "tool")))
}

package doctor

import (
	"sort"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/ir"
)

// aboutKeys looks for the keys of chat agents in the environment. It asks no provider.
func (d *Doctor) aboutKeys(p *ir.Program) (out []ui.Finding) {
	users := map[string][]string{}
	for i := range p.Agents {
		if c := p.Agents[i].Chat; c != nil && c.KeyEnv != "" {
			users[c.KeyEnv] = append(users[c.KeyEnv], "agent "+p.Agents[i].Name)
		}
	}
	names := make([]string, 0, len(users))
	for n := range users {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		by := ", for " + ui.First(users[n], 3)
		if d.Getenv(n) == "" {
			out = append(out, wrong("key", n+" is not set"+by, "Set it to the API key where flowrun runs, or write key = var.NAME."))
		} else {
			out = append(out, fine("key", n+" is set"+by))
		}
	}
	return out
}

package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newAgentsListCommand() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use: "list", Short: "List the agents with limits that runs of the store have used, and the stopped agents", Args: between(0, 0, ""),
		Long: "list prints each agent with its state (started or stopped) and the number of attempts that wait for it.",
		RunE: func(*cobra.Command, []string) error { return a.runAgentsList(asJSON) },
	}
	jsonFlag(c, &asJSON)
	return c
}

func (a *app) runAgentsList(asJSON bool) error {
	limits, err := a.readLimits()
	if err != nil {
		return err
	}
	type listed struct {
		Name    string          `json:"name"`
		Stopped bool            `json:"stopped"`
		Waiting []serve.Waiting `json:"waiting"`
	}
	list, at := []listed{}, now()
	for i := range limits {
		if l := &limits[i]; l.Kind == event.NeedAgent {
			list = append(list, listed{l.Name, l.Stopped, serve.ListWaiting(l, at)})
		}
	}
	if asJSON {
		return ui.WriteJSON(a.out, map[string]any{"agents": list})
	}
	if len(list) == 0 {
		a.err.Printf("No run in this store has used an agent with a limit, and no agent is stopped.\n")
	}
	for _, l := range list {
		state := "started"
		if l.Stopped {
			state = "stopped"
		}
		a.out.Printf("%s\t%s, %d waiting\n", ui.Clean(l.Name), state, len(l.Waiting))
	}
	return nil
}

package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newAgentsStartCommand() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use: "start NAME", Short: "Start an agent in all runs of the store", Args: between(1, 1, "NAME"),
		Long: "start ends what \"flowrun agents stop NAME\" has begun: attempts that wait for the agent start, in their order. The exit code is 1 if the agent is not stopped.",
		RunE: func(_ *cobra.Command, words []string) error { return a.runAgentsStart(words[0], asJSON) },
	}
	jsonFlag(c, &asJSON)
	return c
}

func (a *app) runAgentsStart(name string, asJSON bool) error {
	changed, err := a.changeLimit(event.LimitChange{Start: name})
	switch {
	case err != nil:
		return err
	case asJSON:
		err = ui.WriteJSON(a.out, map[string]any{"name": name, "changed": changed})
	case !changed:
		a.err.Printf("the agent %s is not stopped\n", ui.Quote(name))
	}
	if err == nil && !changed {
		err = &ended{exitNo}
	}
	return err
}

package app

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newAgentsStopCommand() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use: "stop NAME", Short: "Stop an agent in all runs of the store", Args: between(1, 1, "NAME"),
		Long: "stop keeps new attempts of the agent NAME from starting, in all runs of the store, until \"flowrun agents start NAME\". NAME does not need a limit in the file. The exit code is 1 if the agent is stopped already.",
		RunE: func(_ *cobra.Command, words []string) error { return a.runAgentsStop(words[0], asJSON) },
	}
	jsonFlag(c, &asJSON)
	return c
}

func (a *app) runAgentsStop(name string, asJSON bool) error {
	limits, err := a.readLimits()
	if err != nil {
		return err
	}
	changed, err := a.changeLimit(event.LimitChange{Stop: name})
	switch {
	case err != nil:
		return err
	case asJSON:
		err = ui.WriteJSON(a.out, map[string]any{"name": name, "changed": changed})
	case !changed:
		a.err.Printf("the agent %s is stopped already\n", ui.Quote(name))
	case !slices.ContainsFunc(limits, func(l event.Limit) bool { return l.Kind == event.NeedAgent && l.Name == name }):
		a.err.Printf("no run in this store has used the agent %s; it is stopped anyway\n", ui.Quote(name))
	}
	if err == nil && !changed {
		err = &ended{exitNo}
	}
	return err
}

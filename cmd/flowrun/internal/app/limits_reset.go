package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newLimitsResetCommand() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use: "reset NAME", Short: "Close the circuit breaker of an agent or a quota", Args: between(1, 1, "NAME"),
		Long: `reset closes the circuit breaker of the agent or quota NAME and forgets its failures. Attempts that wait for the breaker start.
The exit code is 1 if the breaker is closed and has no failures.`,
		RunE: func(_ *cobra.Command, words []string) error { return a.runLimitsReset(words[0], asJSON) },
	}
	jsonFlag(c, &asJSON)
	return c
}

func (a *app) runLimitsReset(name string, asJSON bool) error {
	reset, err := a.changeLimit(event.LimitChange{Reset: name})
	switch {
	case err != nil:
		return err
	case asJSON:
		err = ui.WriteJSON(a.out, map[string]any{"name": name, "reset": reset})
	case !reset:
		a.err.Printf("the circuit breaker of %s is closed and has no failures, or there is none\n", ui.Quote(name))
	}
	if err == nil && !reset {
		err = &ended{exitNo}
	}
	return err
}

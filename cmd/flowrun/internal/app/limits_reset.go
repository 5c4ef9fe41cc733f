package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newLimitsResetCommand() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use: "reset NAME", Short: "Close the circuit breaker of an agent or a quota, and end a wait that a server asked for", Args: between(1, 1, "NAME"),
		Long: `reset closes the circuit breaker of the agent or quota NAME and forgets its failures. It also ends a wait that the server asked for, such as Retry-After. Attempts that wait for these start. A rate limit of the program does not change. Closing an open breaker publishes the event flowrun.breaker, as when an attempt closes it. The message to the channels of notify is sent by the next run in which an attempt of this agent or quota ends. The exit code is 1 if there is nothing to reset.`,
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
		a.err.Printf("%s has nothing to reset: it has no circuit breaker, or its breaker is closed without failures, and no server asked for a wait\n", ui.Quote(name))
	}
	if err == nil && !reset {
		err = &ended{exitNo}
	}
	return err
}

package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newLimitsResetCommand() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use: "reset NAME", Short: "Close the circuit breaker of an agent or a quota, and forget a wait that the other side named", Args: between(1, 1, "NAME"),
		Long: `reset closes the circuit breaker of the agent or quota NAME and forgets its failures. It also forgets the
moment before which the other side lets nothing start. Attempts that wait for these start. A rate limit of the program stays as it is.
An open breaker that is closed is the event flowrun.breaker, as when an attempt closes it. The next run whose
attempt at the agent or quota ends sends the message to the channels of notify, because runs send messages
and reset starts none. The exit code is 1 if there is nothing to reset.`,
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
		a.err.Printf("%s has nothing to reset: its circuit breaker is closed without failures or it has none, and the other side named no moment\n", ui.Quote(name))
	}
	if err == nil && !reset {
		err = &ended{exitNo}
	}
	return err
}

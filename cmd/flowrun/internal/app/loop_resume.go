package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newLoopResumeCommand() *cobra.Command {
	var o args.LoopControl
	c := &cobra.Command{
		Use: "resume NAME", Short: "End the pause of a loop, or of one of its agents", Args: between(1, 1, "NAME"),
		Long: "resume ends pauses and stops, lets the daemon start a registered loop again that has failed or was cancelled, and lets an agent take items again that a fatal failure has stopped.",
		RunE: func(_ *cobra.Command, words []string) error {
			o.Name = words[0]
			return a.controlLoop(&o, &event.LoopRequest{Operation: event.LoopResume})
		},
	}
	loopFlags(c, &o)
	c.Flags().StringVar(&o.Agent, "agent", "", "this `agent` alone")
	return c
}

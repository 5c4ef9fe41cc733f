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
		Long: "resume ends pauses and stops. If a registered loop has failed or was cancelled, the daemon starts it again. If a fatal failure stopped an agent, the agent takes items again.",
		RunE: func(_ *cobra.Command, words []string) error {
			o.Name = words[0]
			return a.controlLoop(&o, &event.LoopRequest{Operation: event.LoopResume})
		},
	}
	loopFlags(c, &o)
	c.Flags().StringVar(&o.Agent, "agent", "", "this `agent` alone")
	return c
}

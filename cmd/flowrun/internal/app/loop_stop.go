package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newLoopStopCommand() *cobra.Command {
	var o args.LoopControl
	c := &cobra.Command{
		Use: "stop NAME", Short: "Stop a loop after its running items", Args: between(1, 1, "NAME"),
		Long: "After stop, a loop takes no more items, and ends when the runs of its items have ended. To cancel these runs, too: flowrun cancel NAME. To start the loop again: flowrun loop run NAME, or flowrun loop resume NAME if the daemon keeps the loop running.",
		RunE: func(_ *cobra.Command, words []string) error {
			o.Name = words[0]
			return a.controlLoop(&o, &event.LoopRequest{Operation: event.LoopStop})
		},
	}
	loopFlags(c, &o)
	return c
}

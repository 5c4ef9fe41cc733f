package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newLoopStopCommand() *cobra.Command {
	var o args.LoopControl
	c := &cobra.Command{
		Use: "stop NAME", Short: "End a loop when what it does is done", Args: between(1, 1, "NAME"),
		Long: "stop lets a loop take nothing more and end when the runs of its items have ended. To cancel these, too:  flowrun cancel NAME. A loop that a daemon keeps running begins again after  flowrun loop resume NAME, every loop with  flowrun loop run NAME.",
		RunE: func(_ *cobra.Command, words []string) error {
			o.Name = words[0]
			return a.controlLoop(&o, &event.LoopRequest{Operation: event.LoopStop})
		},
	}
	loopFlags(c, &o)
	return c
}

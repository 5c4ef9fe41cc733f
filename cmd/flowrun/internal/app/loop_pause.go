package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newLoopPauseCommand() *cobra.Command {
	var o args.LoopControl
	c := &cobra.Command{
		Use: "pause NAME", Short: "Pause a loop, or one of its agents", Args: between(1, 1, "NAME"),
		Long: "A paused loop, or a paused agent of a loop, claims no new items. Running items continue. The pause applies to the current run of the loop, and to the next one.",
		RunE: func(_ *cobra.Command, words []string) error {
			o.Name = words[0]
			return a.runLoopPause(&o)
		},
	}
	loopFlags(c, &o)
	c.Flags().StringVar(&o.Agent, "agent", "", "this `agent` alone")
	c.Flags().StringVar(&o.For, "for", "", "pause for a `time` such as 5m (default: until loop resume)")
	return c
}

func (a *app) runLoopPause(o *args.LoopControl) error {
	d, err := o.Duration()
	if err != nil {
		return err
	}
	return a.controlLoop(o, &event.LoopRequest{Operation: event.LoopPause, For: d})
}

package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newDispatchReleaseCommand() *cobra.Command {
	var r args.DispatchHold
	c := &cobra.Command{
		Use: "release ID", Short: "Give claimed work back", Args: between(1, 1, "ID"),
		Long: `release gives claimed work back: other agents can take it at once. With --failed, the attempt counts as a failure; after the second failure, the work becomes a dead letter.`,
		RunE: func(_ *cobra.Command, words []string) error {
			r.ID = words[0]
			if r.Failed {
				return a.changeClaim(&r, event.ClaimFail, "given back")
			}
			return a.changeClaim(&r, event.ClaimRelease, "given back")
		},
	}
	c.Flags().StringVar(&r.Reason, "reason", "", "the reason, as `text`; it is shown in the dead letter of work that failed twice")
	c.Flags().BoolVar(&r.Failed, "failed", false, "the work was tried and failed")
	holdFlags(c, &r)
	return c
}

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
		Long: `release gives work back that was claimed: others can take it at once. With --failed the attempt counts as a failure; the second failure makes
a dead letter of the work.`,
		RunE: func(_ *cobra.Command, words []string) error {
			r.ID = words[0]
			if r.Failed {
				return a.changeClaim(&r, event.ClaimFail, "given back")
			}
			return a.changeClaim(&r, event.ClaimRelease, "given back")
		},
	}
	c.Flags().StringVar(&r.Reason, "reason", "", "why, as `text`: the dead letter of work that failed twice has it")
	c.Flags().BoolVar(&r.Failed, "failed", false, "the work was tried and failed")
	holdFlags(c, &r)
	return c
}

package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
)

func (a *app) newDispatchAddCommand() *cobra.Command {
	var r args.DispatchAdd
	c := &cobra.Command{
		Use: "add TITLE", Short: "Hand in work", Args: between(1, 1, "TITLE"),
		Long: `add hands in work and prints its id. The work is durable when the command ends, and running loops wake up.

  flowrun dispatch add "Fix the login page" --to leo --body "The button does nothing on phones."
  flowrun dispatch add "Nightly report" --key report-2026-01-05     the same key again adds nothing`,
		RunE: func(_ *cobra.Command, words []string) error {
			r.Title = words[0]
			return a.addWork(&r)
		},
	}
	workFlags(c, &r)
	return c
}

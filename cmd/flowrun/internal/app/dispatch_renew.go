package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newDispatchRenewCommand() *cobra.Command {
	var r args.DispatchHold
	c := &cobra.Command{
		Use: "renew ID", Short: "Keep claimed work", Args: between(1, 1, "ID"),
		Long: `renew starts the lease of a claim again. With exit code 1 the claim is lost: stop the work, because another agent can have it.`,
		RunE: func(_ *cobra.Command, words []string) error {
			r.ID = words[0]
			return a.changeClaim(&r, event.ClaimRenew, "renewed")
		},
	}
	leaseFlag(c, &r.Lease)
	holdFlags(c, &r)
	return c
}

package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newDispatchCloseCommand() *cobra.Command {
	var r args.DispatchHold
	c := &cobra.Command{
		Use: "close ID", Short: "Close claimed work that is done", Args: between(1, 1, "ID"),
		Long: "close says that claimed work is done. Work that depends on it can then be taken.",
		RunE: func(_ *cobra.Command, words []string) error {
			r.ID = words[0]
			return a.changeClaim(&r, event.ClaimClose, "closed")
		},
	}
	holdFlags(c, &r)
	return c
}

package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
)

func (a *app) newVersionCommand() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use: "version", Short: "Print the version", Args: between(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return ui.WriteJSON(a.out, thisVersion())
			}
			a.out.Printf("flowrun %s\n", thisVersion())
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

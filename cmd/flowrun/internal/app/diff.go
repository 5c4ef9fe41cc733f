package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/engine"
)

func (a *app) newDiffCommand() *cobra.Command {
	asJSON, all := false, false
	c := &cobra.Command{
		Use: "diff A B", Short: "Show what run B differs in from run A", Args: between(2, 2, "A B"),
		Long: `diff compares two runs: their definitions, their inputs, and their nodes by path. A node differs in status, attempts, output, error or
definition, or in duration if that differs by a second and by half at least.

  flowrun runs diff release latest`,
		RunE: func(_ *cobra.Command, words []string) error {
			return a.withRun(words[0], nil, func(s *store, one engine.Info) error {
				ctx := context.Background()
				other, err := a.findRun(ctx, s, words[1])
				if err != nil {
					return err
				}
				d, err := serve.CompareRuns(ctx, s, one, other, all)
				if err != nil {
					return err
				}
				if asJSON {
					return ui.WriteJSON(a.out, d)
				}
				ui.Comparison(a.out, &d)
				return nil
			})
		},
	}
	jsonFlag(c, &asJSON)
	c.Flags().BoolVar(&all, "all", false, "also show nodes that do not differ")
	return c
}

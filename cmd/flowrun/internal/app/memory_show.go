package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/memory"
)

func (a *app) newMemoryShowCommand() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use: "show ID", Short: "Show one entry and its history", Args: between(1, 1, "ID"),
		RunE: func(_ *cobra.Command, words []string) error {
			return a.onMemory(toRead, nil, func(ctx context.Context, m *memory.Memory) error {
				ids, err := findIDs(ctx, m, words)
				if err != nil {
					return err
				}
				item, history, err := m.Show(ctx, ids[0])
				if err != nil {
					return err
				}
				ui.Memory(a.out, &item, history, present(), asJSON)
				return nil
			})
		},
		ValidArgsFunction: a.completeIDs,
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/memory"
)

func (a *app) newMemoryAddCommand() *cobra.Command {
	var e args.MemoryEntry
	c := &cobra.Command{
		Use: "add [TEXT]", Short: "Add an entry", Args: between(0, 1000, "[TEXT]"),
		Long: `add writes an entry with a text, or with the parts --context, --observation and --lesson, and prints its id. If TEXT is -, add reads
standard input. If a learning with the same words exists, add counts it once more and writes no new entry.`,
		RunE: func(_ *cobra.Command, words []string) error {
			if err := a.readEntry(&e, words); err != nil {
				return err
			}
			return a.onMemory(toMake, &e.Embedder, func(ctx context.Context, m *memory.Memory) error {
				added, err := m.Add(ctx, a.newEntry(&e))
				if err != nil {
					return err
				}
				ui.Added(a.out, a.err, newAddedMemory(&added[0]), e.JSON)
				return nil
			})
		},
	}
	entryFlags(c, &e)
	return c
}

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
		Use: "add [TEXT]", Short: "Remember something", Args: between(0, 1000, "[TEXT]"),
		Long: `add remembers a text, or what --context, --observation and --lesson say, and prints its id. TEXT may be - for standard input. A learning
that was written before, word for word, is counted once more instead.`,
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

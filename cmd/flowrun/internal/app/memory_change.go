package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/memory"
)

// newMemoryChangeCommand declares a command that changes the named entries.
func (a *app) newMemoryChangeCommand(c *cobra.Command, r *args.MemoryChange, past string, do func(context.Context, *memory.Memory) error) *cobra.Command {
	c.Use += " ID…"
	c.Args = between(1, 1000, "ID…")
	c.ValidArgsFunction = a.completeIDs
	c.RunE = func(_ *cobra.Command, words []string) error {
		if err := r.Check(); err != nil {
			return err
		}
		return a.onMemory(toChange, nil, func(ctx context.Context, m *memory.Memory) (err error) {
			if r.IDs, err = findIDs(ctx, m, words); err != nil {
				return err
			}
			if err := do(ctx, m); err != nil {
				return err
			}
			ui.Changed(a.out, past, r.IDs, r.JSON)
			return nil
		})
	}
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}

// reasonFlag declares the flag of the commands that keep a reason.
func reasonFlag(c *cobra.Command, r *args.MemoryChange) *cobra.Command {
	c.Flags().StringVar(&r.Reason, "reason", "", "the reason, a `text` that memory show prints")
	return c
}

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
	c.Flags().StringVar(&r.Reason, "reason", "", "a `text` that is kept beside it, for people")
	return c
}

func (a *app) newMemoryPinCommand() *cobra.Command {
	var r args.MemoryChange
	return reasonFlag(a.newMemoryChangeCommand(&cobra.Command{Use: "pin", Short: "Keep entries in short-term memory, however old they are"}, &r, "pinned",
		func(ctx context.Context, m *memory.Memory) error { return m.Pin(ctx, r.IDs, a.person(), r.Reason) }), &r)
}

func (a *app) newMemoryUnpinCommand() *cobra.Command {
	var r args.MemoryChange
	return reasonFlag(a.newMemoryChangeCommand(&cobra.Command{Use: "unpin", Short: "Take back a pin"}, &r, "unpinned",
		func(ctx context.Context, m *memory.Memory) error { return m.Unpin(ctx, r.IDs, a.person(), r.Reason) }), &r)
}

func (a *app) newMemoryForgetCommand() *cobra.Command {
	var r args.MemoryChange
	return reasonFlag(a.newMemoryChangeCommand(&cobra.Command{Use: "forget", Short: "Hide entries permanently", Long: `forget hides entries permanently: no search, list or recall tells their texts any more, only memory show that there was one. For what is
merely out of date there is memory supersede, and for what should never have been written memory revert, which also brings back what
it superseded.`}, &r, "forgotten",
		func(ctx context.Context, m *memory.Memory) error { return m.Forget(ctx, r.IDs, a.person(), r.Reason) }), &r)
}

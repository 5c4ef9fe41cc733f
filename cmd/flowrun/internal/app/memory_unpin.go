package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/memory"
)

func (a *app) newMemoryUnpinCommand() *cobra.Command {
	var r args.MemoryChange
	return reasonFlag(a.newMemoryChangeCommand(&cobra.Command{Use: "unpin", Short: "Remove the pin from entries"}, &r, "unpinned",
		func(ctx context.Context, m *memory.Memory) error { return m.Unpin(ctx, r.IDs, a.person(), r.Reason) }), &r)
}

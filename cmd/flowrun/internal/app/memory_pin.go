package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/memory"
)

func (a *app) newMemoryPinCommand() *cobra.Command {
	var r args.MemoryChange
	return reasonFlag(a.newMemoryChangeCommand(&cobra.Command{Use: "pin", Short: "Keep entries in short-term memory at any age"}, &r, "pinned",
		func(ctx context.Context, m *memory.Memory) error { return m.Pin(ctx, r.IDs, a.person(), r.Reason) }), &r)
}

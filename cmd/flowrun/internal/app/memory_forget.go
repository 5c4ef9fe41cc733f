package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/memory"
)

func (a *app) newMemoryForgetCommand() *cobra.Command {
	var r args.MemoryChange
	return reasonFlag(a.newMemoryChangeCommand(&cobra.Command{Use: "forget", Short: "Hide entries permanently", Long: `forget hides entries permanently: search, list and recall no longer show their texts, and memory show only says that there was an
entry. If an entry is out of date, use memory supersede. If it should never have been written, use memory revert: it also restores
the entries that it superseded.`}, &r, "forgotten",
		func(ctx context.Context, m *memory.Memory) error { return m.Forget(ctx, r.IDs, a.person(), r.Reason) }), &r)
}

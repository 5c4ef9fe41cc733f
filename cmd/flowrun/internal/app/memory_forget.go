package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/memory"
)

func (a *app) newMemoryForgetCommand() *cobra.Command {
	var r args.MemoryChange
	return reasonFlag(a.newMemoryChangeCommand(&cobra.Command{Use: "forget", Short: "Hide entries permanently", Long: `forget hides entries permanently: no search, list or recall tells their texts any more, only memory show that there was one. For what is
merely out of date there is memory supersede, and for what should never have been written memory revert, which also brings back what
it superseded.`}, &r, "forgotten",
		func(ctx context.Context, m *memory.Memory) error { return m.Forget(ctx, r.IDs, a.person(), r.Reason) }), &r)
}

package app

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
)

func (a *app) newMemoryPromoteCommand() *cobra.Command {
	var r args.MemoryChange
	c := a.newMemoryChangeCommand(&cobra.Command{Use: "promote", Short: "Show entries to others than now",
		Long: `promote shows entries to others: to everybody, an agent, or a group of agents. What an untrusted agent writes is seen in its run alone
until somebody looks at it and promotes it.`}, &r, "promoted",
		func(ctx context.Context, m *memory.Memory) error {
			to := promoteScope(r.To)
			if word, ok := strings.CutPrefix(r.To, "run:"); ok { // where no such run is, nobody would see them any more
				run, err := a.findMemoryRun(ctx, m, word)
				if err != nil {
					return err
				}
				to = entry.OfRun(run)
			}
			return m.Promote(ctx, r.IDs, to, a.person())
		})
	c.Flags().StringVar(&r.To, "to", "shared", "who sees them: shared, agent:NAME, group:NAME or run:ID")
	return c
}

func promoteScope(word string) entry.Scope {
	if word == "shared" {
		return entry.Shared
	}
	return entry.Scope(word)
}

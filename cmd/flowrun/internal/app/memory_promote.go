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
	c := a.newMemoryChangeCommand(&cobra.Command{Use: "promote", Short: "Show entries to more readers",
		Long: `promote shows entries to more readers: to all agents, to one agent, or to a group of agents. An entry of an untrusted agent is visible in
its own run only, until a person promotes it.`}, &r, "promoted",
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

package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/memory"
)

func (a *app) newMemoryStatsCommand() *cobra.Command {
	var e args.Embedder
	asJSON := false
	c := &cobra.Command{
		Use: "stats", Short: "Count what the memory holds", Args: between(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			if err := e.Check(); err != nil {
				return err
			}
			return a.onMemory(toRead, &e, func(ctx context.Context, m *memory.Memory) error {
				s, err := m.Stats(ctx)
				if err != nil {
					return err
				}
				ui.MemoryCounts(a.out, newMemoryStats(&s), asJSON)
				return nil
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	embedderFlags(c, &e)
	return c
}

func newMemoryStats(s *memory.Stats) ui.MemoryStats {
	of := func(list []memory.Count) []ui.MemoryCount {
		out := make([]ui.MemoryCount, len(list))
		for i, c := range list {
			out[i] = ui.MemoryCount{Name: c.Name, Entries: c.Entries}
		}
		return out
	}
	return ui.MemoryStats{Entries: s.Entries, Visible: s.Visible, Superseded: s.Superseded, Archived: s.Archived, Working: s.Working,
		Forgotten: s.Forgotten, Pinned: s.Pinned, Reverted: s.Reverted, Records: s.Records,
		Types: of(s.Types), Agents: of(s.Agents), Scopes: of(s.Scopes), Model: s.Model, Dim: s.Dim, WordVectors: s.WordVectors, Pending: s.Pending}
}

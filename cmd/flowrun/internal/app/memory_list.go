package app

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/memory"
)

func (a *app) newMemoryListCommand() *cobra.Command {
	var r args.MemoryList
	c := &cobra.Command{
		Use: "list", Short: "List entries, newest first", Args: between(0, 0, ""),
		Long: `list prints entries, newest first, with the beginning of their texts. With --json it prints one array; an entry has the fields of an
imported line, its author ("by"), how often it was seen and recalled ("count", "uses", "last_seen"), and its state ("pinned",
"superseded_by", "archived", …).

--run lists the entries that a run wrote or learned again; with --all also its working memory, and entries that a pattern
replaced. On a terminal list prints the newest 50 entries, unless --limit says otherwise.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := refuseEmpty(c, "run", "author"); err != nil {
				return err
			}
			if err := r.Check(present()); err != nil {
				return err
			}
			if a.out.Live && !r.JSON && !c.Flags().Changed("limit") {
				r.Limit = listScreenful
			}
			return a.onMemory(toRead, nil, func(ctx context.Context, m *memory.Memory) error { return a.runMemoryList(ctx, m, &r) })
		},
	}
	c.Flags().IntVar(&r.Limit, "limit", 0, "at most `N` entries (0: all)")
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	originFlags(c, &r)
	whichFlags(c, &r.Which)
	return c
}

// listScreenful is the default length of a list on a terminal, in entries.
const listScreenful = 50

func (a *app) runMemoryList(ctx context.Context, m *memory.Memory, r *args.MemoryList) error {
	f, err := a.memoryFilter(ctx, m, r)
	if err != nil {
		return err
	}
	items, err := m.List(ctx, f)
	if err != nil {
		return err
	}
	slices.Reverse(items)
	if len(items) == 0 && !r.JSON {
		return a.explainEmptyMemoryList(ctx, m, f)
	}
	more := 0
	if r.Limit > 0 && len(items) > r.Limit {
		more, items = len(items)-r.Limit, items[:r.Limit]
	}
	ui.Memories(a.out, items, present(), r.JSON)
	if more > 0 && !r.JSON {
		a.err.Printf("… and %s more: --limit 0 lists all, memory search finds entries by their text.\n", ui.Entries(more))
	}
	return nil
}

// explainEmptyMemoryList prints that no entry fits, and whether hidden entries do.
func (a *app) explainEmptyMemoryList(ctx context.Context, m *memory.Memory, f memory.Filter) error {
	hidden := 0
	if !f.Everything {
		f.Everything = true
		items, err := m.List(ctx, f)
		if err != nil {
			return err
		}
		for i := range items {
			if !items[i].Forgotten {
				hidden++
			}
		}
	}
	if hidden > 0 {
		a.err.Printf("Only superseded, archived or working entries match: with --all, %s.\n", ui.Entries(hidden))
	} else {
		a.err.Printf("No entry matches.\n")
	}
	return nil
}

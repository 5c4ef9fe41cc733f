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
		Long: `list lists entries, newest first, with the beginning of what they say. With --json it is one array; an entry has the fields of an imported
line, who wrote it ("by"), how often it was seen and recalled ("count", "uses", "last_seen"), and what became of it ("pinned",
"superseded_by", "archived", …).

--run lists what a run wrote or learned again; with --all also what was its working memory, and what patterns stand for now. On a
terminal the newest 50 are listed where --limit says nothing.`,
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
		a.err.Printf("… and %s more: --limit 0 lists them all, memory search finds some.\n", ui.Entries(more))
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
		a.err.Printf("Nothing fits but what is superseded, archived or at work: with --all, %s.\n", ui.Entries(hidden))
	} else {
		a.err.Printf("Nothing fits.\n")
	}
	return nil
}

package app

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
)

func (a *app) memoryList() *cobra.Command {
	var r args.MemoryList
	c := &cobra.Command{
		Use: "list", Short: "List entries, newest first", Args: between(0, 0, ""),
		Long: `list lists entries, newest first, with the beginning of what they say. With --json it is one array; an entry has the fields of an imported
line, who wrote it ("by"), how often it was seen and recalled ("count", "uses", "last_seen"), and what became of it ("pinned",
"superseded_by", "archived", …).`,
		RunE: func(*cobra.Command, []string) error {
			if err := r.Check(moments()); err != nil {
				return err
			}
			return a.onMemory(toRead, nil, func(ctx context.Context, m *memory.Memory) error { return a.listMemory(ctx, m, &r) })
		},
	}
	c.Flags().IntVar(&r.Limit, "limit", 0, "at most `N` entries (0: all)")
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	whichFlags(c, &r.Which)
	return c
}

func filter(w *args.Which) memory.Filter {
	return memory.Filter{Viewer: viewer(w.Agent), Type: entry.Type(w.Type), Tag: w.Tag, Since: w.From, Everything: w.All}
}

func (a *app) listMemory(ctx context.Context, m *memory.Memory, r *args.MemoryList) error {
	f := filter(&r.Which)
	f.Limit = r.Limit
	items, err := m.List(ctx, f)
	if err != nil {
		return err
	}
	slices.Reverse(items)
	if len(items) == 0 && !r.JSON {
		a.err.Printf("Nothing fits.\n")
		return nil
	}
	ui.Memories(a.out, items, moments(), r.JSON)
	return nil
}

func (a *app) memoryShow() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use: "show ID", Short: "Show one entry whole, and how it came to be so", Args: between(1, 1, "ID"),
		RunE: func(_ *cobra.Command, words []string) error {
			return a.onMemory(toRead, nil, func(ctx context.Context, m *memory.Memory) error {
				ids, err := wholeIDs(ctx, m, words)
				if err != nil {
					return err
				}
				item, history, err := m.Show(ctx, ids[0])
				if err != nil {
					return err
				}
				ui.Memory(a.out, &item, history, moments(), asJSON)
				return nil
			})
		},
		ValidArgsFunction: a.completeIDs,
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

func (a *app) memoryExport() *cobra.Command {
	var w args.Which
	c := &cobra.Command{
		Use: "export", Short: "Write entries as JSON lines, as import reads them", Args: between(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			if err := w.Check(moments()); err != nil {
				return err
			}
			return a.onMemory(toRead, nil, func(ctx context.Context, m *memory.Memory) error { return m.Export(ctx, a.out, filter(&w)) })
		},
	}
	whichFlags(c, &w)
	return c
}

package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
)

func (a *app) newMemorySupersedeCommand() *cobra.Command {
	var e args.MemoryEntry
	c := &cobra.Command{
		Use: "supersede ID… TEXT", Short: "Replace entries by a new one", Args: between(1, 1000, "ID… TEXT"),
		Long: `supersede writes a new entry in place of others, and prints its id. The others are hidden, except from --all, and are never removed.
The last argument is the text of the new entry (-: standard input), unless --lesson, --observation or --context give its parts.`,
		RunE: func(_ *cobra.Command, words []string) error {
			ids := words
			var text []string
			if !e.Described() {
				ids, text = words[:len(words)-1], words[len(words)-1:]
			}
			if len(ids) == 0 {
				return &args.Error{Message: "an argument is missing: the entry to replace, or its new text", Hint: "Write the ids and then the new text, or give the text as --lesson."}
			}
			if err := a.readEntry(&e, text); err != nil {
				return err
			}
			return a.onMemory(toChange, &e.Embedder, func(ctx context.Context, m *memory.Memory) error {
				ids, err := findIDs(ctx, m, ids)
				if err != nil {
					return err
				}
				by, err := a.newSupersedeEntry(ctx, m, ids[0], &e)
				if err != nil {
					return err
				}
				id, err := m.Supersede(ctx, ids, by, a.person())
				if err != nil {
					return err
				}
				ui.Added(a.out, a.err, ui.AddedMemory{ID: id, Supersedes: ids}, e.JSON)
				return nil
			})
		},
		ValidArgsFunction: a.completeIDs,
	}
	entryFlags(c, &e)
	return c
}

// newSupersedeEntry returns the entry that the flags describe. Fields without a flag are taken from the
// entry that it replaces.
func (a *app) newSupersedeEntry(ctx context.Context, m *memory.Memory, old string, e *args.MemoryEntry) (entry.Entry, error) {
	was, _, err := m.Show(ctx, old)
	by := a.newEntry(e)
	if e.Agent == "" {
		by.Agent, by.Scope = was.Agent, was.Scope
	}
	if e.Type == "" {
		by.Type = was.Type
	}
	if len(e.Tags) == 0 {
		by.Tags = was.Tags
	}
	if e.Importance == 0 {
		by.Importance = was.Importance
	}
	return by, err
}

package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/memory"
)

func (a *app) newMemoryRevertCommand() *cobra.Command {
	var r args.MemoryRevert
	c := &cobra.Command{
		Use: "revert [ID…]", Short: "Remove entries as if they had never been written", Args: between(0, 1000, "[ID…]"),
		Long: `revert removes entries as if they had never been written, and restores the entries that they superseded. It reverts the entries that you
name, those of a run, of an author or of a time; with several of these, the entries that match all of them.`,
		RunE: func(c *cobra.Command, words []string) error {
			r.IDs = words
			if err := refuseEmpty(c, "run", "author", "since", "until"); err != nil {
				return err
			}
			if err := r.Check(present()); err != nil {
				return err
			}
			return a.onMemory(toChange, nil, func(ctx context.Context, m *memory.Memory) error { return a.runMemoryRevert(ctx, m, &r) })
		},
		ValidArgsFunction: a.completeIDs,
	}
	f := c.Flags()
	f.StringVar(&r.Run, "run", "", "entries of this `run`: its id, the beginning of one, or latest")
	f.StringVar(&r.Author, "author", "", "entries of this `author`: agent:NAME, user:NAME or flowrun")
	f.StringVar(&r.Since, "since", "", "entries written since this `age` or date: 2h, 2026-11-02")
	f.StringVar(&r.Until, "until", "", "entries written before this `age` or date")
	f.BoolVar(&r.JSON, "json", false, "as JSON")
	return reasonFlag(c, &r.MemoryChange)
}

func (a *app) runMemoryRevert(ctx context.Context, m *memory.Memory, r *args.MemoryRevert) error {
	which, err := findIDs(ctx, m, r.IDs)
	if err != nil {
		return err
	}
	run, err := a.findMemoryRun(ctx, m, r.Run)
	if err != nil {
		return err
	}
	if err := checkAuthor(ctx, m, r.Author); err != nil {
		return err
	}
	ids, err := m.Revert(ctx, memory.Selector{IDs: which, Run: run, Author: r.Author, Since: r.From, Until: r.To}, a.person(), r.Reason)
	if err != nil {
		return err
	}
	if len(ids) == 0 && !r.JSON {
		a.err.Printf("No entry matches, and nothing was changed.\n")
	}
	ui.Changed(a.out, "reverted", ids, r.JSON)
	return nil
}

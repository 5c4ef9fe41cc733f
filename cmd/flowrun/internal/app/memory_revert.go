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
		Use: "revert [ID…]", Short: "Take entries back as if they had never been written", Args: between(0, 1000, "[ID…]"),
		Long: `revert takes entries back as if they had never been written; what they superseded is back. It takes the entries that are named, those of
a run, of an author, of a time, or what fits all that is said.`,
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
	f.StringVar(&r.Run, "run", "", "what this `run` wrote, by its id, the beginning of one, or latest")
	f.StringVar(&r.Author, "author", "", "what this `author` wrote: agent:NAME, user:NAME or flowrun")
	f.StringVar(&r.Since, "since", "", "what was written since this `age` or date: 2h, 2026-11-02")
	f.StringVar(&r.Until, "until", "", "what was written before this `age` or date")
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
		a.err.Printf("Nothing fits, and nothing is changed.\n")
	}
	ui.Changed(a.out, "reverted", ids, r.JSON)
	return nil
}

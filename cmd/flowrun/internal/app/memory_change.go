package app

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
)

// newMemoryChangeCommand declares a command that changes the named entries.
func (a *app) newMemoryChangeCommand(c *cobra.Command, r *args.MemoryChange, past string, do func(context.Context, *memory.Memory) error) *cobra.Command {
	c.Use += " ID…"
	c.Args = between(1, 1000, "ID…")
	c.ValidArgsFunction = a.completeIDs
	c.RunE = func(_ *cobra.Command, words []string) error {
		if err := r.Check(); err != nil {
			return err
		}
		return a.onMemory(toChange, nil, func(ctx context.Context, m *memory.Memory) (err error) {
			if r.IDs, err = wholeIDs(ctx, m, words); err != nil {
				return err
			}
			if err := do(ctx, m); err != nil {
				return err
			}
			ui.Changed(a.out, past, r.IDs, r.JSON)
			return nil
		})
	}
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}

// reasonFlag declares the flag of the commands that keep a reason.
func reasonFlag(c *cobra.Command, r *args.MemoryChange) *cobra.Command {
	c.Flags().StringVar(&r.Reason, "reason", "", "a `text` that is kept beside it, for people")
	return c
}

func (a *app) newMemoryPinCommand() *cobra.Command {
	var r args.MemoryChange
	return reasonFlag(a.newMemoryChangeCommand(&cobra.Command{Use: "pin", Short: "Keep entries in short-term memory, however old they are"}, &r, "pinned",
		func(ctx context.Context, m *memory.Memory) error { return m.Pin(ctx, r.IDs, a.person(), r.Reason) }), &r)
}

func (a *app) newMemoryUnpinCommand() *cobra.Command {
	var r args.MemoryChange
	return reasonFlag(a.newMemoryChangeCommand(&cobra.Command{Use: "unpin", Short: "Take back a pin"}, &r, "unpinned",
		func(ctx context.Context, m *memory.Memory) error { return m.Unpin(ctx, r.IDs, a.person(), r.Reason) }), &r)
}

func (a *app) newMemoryForgetCommand() *cobra.Command {
	var r args.MemoryChange
	return reasonFlag(a.newMemoryChangeCommand(&cobra.Command{Use: "forget", Short: "Hide entries permanently", Long: `forget hides entries permanently: no search, list or recall tells their texts any more, only memory show that there was one. For what is
merely out of date there is memory supersede, and for what should never have been written memory revert, which also brings back what
it superseded.`}, &r, "forgotten",
		func(ctx context.Context, m *memory.Memory) error { return m.Forget(ctx, r.IDs, a.person(), r.Reason) }), &r)
}

func (a *app) newMemoryPromoteCommand() *cobra.Command {
	var r args.MemoryChange
	c := a.newMemoryChangeCommand(&cobra.Command{Use: "promote", Short: "Show entries to others than now",
		Long: `promote shows entries to others: to everybody, an agent, or a group of agents. What an untrusted agent writes is seen in its run alone
until somebody looks at it and promotes it.`}, &r, "promoted",
		func(ctx context.Context, m *memory.Memory) error {
			to := scopeOf(r.To)
			if word, ok := strings.CutPrefix(r.To, "run:"); ok { // where no such run is, nobody would see them any more
				run, err := a.wholeRun(ctx, m, word)
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

func scopeOf(word string) entry.Scope {
	if word == "shared" {
		return entry.Shared
	}
	return entry.Scope(word)
}

func (a *app) newMemoryRevertCommand() *cobra.Command {
	var r args.MemoryRevert
	c := &cobra.Command{
		Use: "revert [ID…]", Short: "Take entries back as if they had never been written", Args: between(0, 1000, "[ID…]"),
		Long: `revert takes entries back as if they had never been written; what they superseded is back. It takes the entries that are named, those of
a run, of an author, of a time, or what fits all that is said.`,
		RunE: func(c *cobra.Command, words []string) error {
			r.IDs = words
			if err := notEmpty(c, "run", "author", "since", "until"); err != nil {
				return err
			}
			if err := r.Check(moments()); err != nil {
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
	which, err := wholeIDs(ctx, m, r.IDs)
	if err != nil {
		return err
	}
	run, err := a.wholeRun(ctx, m, r.Run)
	if err != nil {
		return err
	}
	if err := knownAuthor(ctx, m, r.Author); err != nil {
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

// shown returns the entries of ids.
func shown(ctx context.Context, m *memory.Memory, ids []string) (items []entry.Item) {
	for _, id := range ids {
		if i, _, err := m.Show(ctx, id); err == nil {
			items = append(items, i)
		}
	}
	return items
}

func (a *app) newMemoryConsolidateCommand() *cobra.Command {
	var e args.Embedder
	asJSON, reword := false, false
	c := &cobra.Command{
		Use: "consolidate [AGENT]", Short: "Make patterns of what was learned several times", Args: between(0, 1, "[AGENT]"),
		Long: `consolidate looks for learnings that say much the same, and writes one pattern for each group of them; the pattern names its sources, which
are hidden behind it and stay. Of an agent, or of all of them. What is consolidated already is left alone.

--reword has the editor of the program of --file word patterns that read as a template has them: five at most, also those for which its
answer did not serve before.`,
		RunE: func(_ *cobra.Command, words []string) error {
			if err := e.Check(); err != nil {
				return err
			}
			return a.onMemory(toChange, &e, func(ctx context.Context, m *memory.Memory) error {
				ids, err := consolidated(ctx, m, strings.Join(words, ""))
				if err != nil {
					return err
				}
				if len(ids) == 0 && !asJSON {
					a.err.Printf("Nothing was learned several times that is no pattern yet.\n")
				}
				var worded []string
				if reword {
					worded, err = a.reword(ctx, m)
				}
				ui.Consolidated(a.out, shown(ctx, m, ids), shown(ctx, m, worded), asJSON)
				return err
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	c.Flags().BoolVar(&reword, "reword", false, "have the editor of --file's program word patterns")
	embedderFlags(c, &e)
	return c
}

package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/runner/learning"
	"github.com/flowrun/flowrun/runner/standalone"
)

func (a *app) newMemoryConsolidateCommand() *cobra.Command {
	var e args.Embedder
	asJSON, reword := false, false
	c := &cobra.Command{
		Use: "consolidate [AGENT]", Short: "Write one pattern for similar learnings", Args: between(0, 1, "[AGENT]"),
		Long: `consolidate finds similar learnings, and writes one pattern for each group of them, for one agent or for all agents. The pattern names its sources, which are kept but hidden. Learnings that already have a pattern do not change.

With --reword, the editor of the program that --file names words patterns that still have the words of the template: up to five,
including patterns for which its earlier answer could not be used.`,
		RunE: func(_ *cobra.Command, words []string) error {
			if err := e.Check(); err != nil {
				return err
			}
			if reword && a.memoryFile == "" {
				return &args.Error{Message: "--reword needs --file", Hint: "Name the program whose memory has an editor."}
			}
			return a.onMemory(toChange, &e, func(ctx context.Context, m *memory.Memory) error {
				var ids []string
				var err error
				if agent := strings.Join(words, ""); agent != "" {
					ids, err = m.Consolidate(ctx, agent)
				} else {
					ids, err = m.ConsolidateAll(ctx)
				}
				if err != nil {
					return err
				}
				if len(ids) == 0 && !asJSON {
					a.err.Printf("flowrun found no new group of similar learnings.\n")
				}
				var worded []string
				if reword {
					worded, err = a.consolidateReword(ctx, m)
				}
				ui.Consolidated(a.out, consolidatedItems(ctx, m, ids), consolidatedItems(ctx, m, worded), asJSON)
				return err
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	c.Flags().BoolVar(&reword, "reword", false, "let the editor of the program in --file word patterns")
	embedderFlags(c, &e)
	return c
}

// consolidateRun takes the place of a run's id when a user calls an editor by hand.
const consolidateRun = "by-hand"

// consolidateReword lets the editor of --file's program word patterns. The program's variables come from the
// environment and from their defaults.
func (a *app) consolidateReword(ctx context.Context, m *memory.Memory) ([]string, error) {
	p, err := a.loadProgram(a.memoryFile)
	if err != nil {
		return nil, err
	}
	if p.ir.Memory == nil || p.ir.Memory.Editor == "" {
		return nil, &args.Error{Message: fmt.Sprintf("the memory of %s names no editor", a.memoryFile), Hint: "Write  memory { editor = agent.NAME }."}
	}
	first, held, err := a.newFirstEvent(p, &ir.Workflow{Name: learning.EditorStep}, &args.Apply{})
	if err != nil {
		return nil, err
	}
	dir, err := a.storeDir(a.memoryFile)
	if err != nil {
		return nil, err
	}
	service, closeService := standalone.Carry(dir, a.carryOptions())
	defer closeService()
	first.Run = consolidateRun
	return service.Reword(ctx, m, p.ir, &first, held, memory.Wording{Again: true, By: entry.Source{Source: "cli", Trust: entry.ByPerson}})
}

// consolidatedItems returns the entries of ids.
func consolidatedItems(ctx context.Context, m *memory.Memory, ids []string) (items []entry.Item) {
	for _, id := range ids {
		if i, _, err := m.Show(ctx, id); err == nil {
			items = append(items, i)
		}
	}
	return items
}

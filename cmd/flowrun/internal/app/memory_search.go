package app

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
)

func (a *app) newMemorySearchCommand() *cobra.Command {
	var r args.MemorySearch
	c := &cobra.Command{
		Use: "search QUERY", Short: "Find entries by words and by meaning, best first", Args: between(0, 1000, "QUERY"),
		Long: `search finds entries by the words of a query and by its meaning, best first. It works offline, and the same memory gives the same
answer to the same query. --explain shows the parts of each score. With --json the answer is {"query":"…","results":[…]}; each result
is an entry as memory list --json prints it, with its score.

With --queries it answers the queries of a file, one {"id":"0","query":"…"} on each line, in their order and in one process; it prints
each answer as soon as it is computed. With --json an answer is a line {"id":"0","results":[{"id":"D1:3","score":0.7}]}. If a line is
not a query, search reports its number, the answer has an "error", and the exit code is 1.`,
		RunE: func(_ *cobra.Command, words []string) error {
			r.Words = words
			if err := r.Check(present()); err != nil {
				return err
			}
			return a.onMemory(toChange, &r.Embedder, func(ctx context.Context, m *memory.Memory) error {
				if r.Wait {
					if err := m.Wait(ctx); err != nil {
						return err
					}
				}
				search := a.searchMemoryOnce
				if r.Queries != "" {
					search = a.searchMemoryQueries
				}
				err := search(ctx, m, &r)
				if m.Pending() > 0 { // the memory has said that it finds some entries by their words alone
					a.err.Printf("flowrun: with --wait they get their vectors before the search.\n")
				}
				return err
			})
		},
	}
	f := c.Flags()
	f.IntVarP(&r.K, "results", "k", 10, "at most `N` results")
	f.StringVar(&r.Queries, "queries", "", "answer the queries of a `FILE` of JSON lines (-: standard input)")
	f.BoolVar(&r.Explain, "explain", false, "show the parts of scores")
	f.BoolVar(&r.Wait, "wait", false, "first make the vectors that are missing, after a change of the embedder")
	f.BoolVar(&r.JSON, "json", false, "as JSON")
	whichFlags(c, &r.Which)
	embedderFlags(c, &r.Embedder)
	return c
}

// searchMemory asks the memory one query.
func searchMemory(ctx context.Context, m *memory.Memory, r *args.MemorySearch, query string) ([]ui.Found, error) {
	hits, err := m.Search(ctx, memory.Query{Text: query, K: r.K, Viewer: viewer(r.Agent), Type: entry.Type(r.Type), Tag: r.Tag, Since: r.From, Everything: r.All})
	if err != nil {
		return nil, err
	}
	list := make([]ui.Found, len(hits))
	for i := range hits {
		list[i] = ui.Found{Item: hits[i].Item, Score: hits[i].Score}
		if r.Explain {
			list[i].Parts = memorySearchParts(&hits[i])
		}
	}
	return list, nil
}

func memorySearchParts(h *memory.Hit) ui.Parts {
	p := &h.Parts
	return ui.Parts{{Name: "words", Value: p.Words}, {Name: "previous", Value: p.Previous}, {Name: "meaning", Value: p.Meaning},
		{Name: "word_vectors", Value: p.WordVectors}, {Name: "neighbours", Value: p.Neighbours}, {Name: "recency", Value: p.Recency},
		{Name: "importance", Value: p.Importance}, {Name: "uses", Value: p.Uses}, {Name: "superseded", Value: p.Superseded}}
}

// searchMemoryOnce answers the query of the command line.
func (a *app) searchMemoryOnce(ctx context.Context, m *memory.Memory, r *args.MemorySearch) error {
	list, err := searchMemory(ctx, m, r, r.Query())
	if err != nil {
		return err
	}
	if r.JSON {
		ui.FoundJSON(a.out, r.Query(), list)
		return nil
	}
	ui.FoundText(a.out, list, present())
	if len(list) == 0 {
		a.err.Printf("No entry matches.\n")
	}
	return nil
}

// searchMemoryQueries answers the queries of a file as they arrive, one per line.
func (a *app) searchMemoryQueries(ctx context.Context, m *memory.Memory, r *args.MemorySearch) error {
	in, _, err := a.openInput(ctx, r.Queries)
	if err != nil {
		return err
	}
	defer in.Close()
	refused := false
	err = memory.ReadQueries(ctx, in, func(line int, q memory.QueryLine, err error) error {
		var list []ui.Found
		if err == nil {
			if list, err = searchMemory(ctx, m, r, q.Query); err != nil && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if err != nil {
			refused = true
			err = &memory.LineError{Name: inputName(r.Queries), Line: line, Err: err}
			a.err.Printf("flowrun: %s\n", ui.Clean(err.Error()))
		}
		a.answerMemorySearch(r, q, list, err)
		return nil
	})
	switch {
	case err != nil && ctx.Err() == nil:
		return fmt.Errorf("reading %s: %w", inputName(r.Queries), err)
	case err == nil && refused:
		return &ended{exitNo}
	}
	return err
}

// answerMemorySearch writes the result of one query of a batch.
func (a *app) answerMemorySearch(r *args.MemorySearch, q memory.QueryLine, list []ui.Found, err error) {
	if r.JSON {
		answer := ui.Answered(q.ID, list)
		if err != nil {
			answer.Error = err.Error()
		}
		_ = ui.WriteJSON(a.out, answer)
		return
	}
	if err == nil {
		a.out.Printf("== %s %s\n", ui.Clean(q.ID), ui.Clean(q.Query))
		ui.FoundText(a.out, list, present())
	}
}

package app

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
)

// MaxQueryLine bounds a line of a file of queries, in bytes.
const MaxQueryLine = 1 << 20

func (a *app) newMemorySearchCommand() *cobra.Command {
	var r args.MemorySearch
	c := &cobra.Command{
		Use: "search QUERY", Short: "Find entries by words and by meaning, best first", Args: between(0, 1000, "QUERY"),
		Long: `search finds entries by the words of a query and by what it means, best first. It works offline, and the same memory gives the same
answer to the same query. --explain shows what a score is the sum of. With --json the answer is {"query":"…","results":[…]}, each result
an entry as memory list --json has it, with its score.

With --queries it answers a file of queries, {"id":"0","query":"…"} a line, in one process and in their order, each as soon as it is
computed; with --json an answer is a line {"id":"0","results":[{"id":"D1:3","score":0.7}]}. A line that is no query is told with its
number, has an "error" in its answer, and makes the exit code 1.`,
		RunE: func(_ *cobra.Command, words []string) error {
			r.Words = words
			if err := r.Check(moments()); err != nil {
				return err
			}
			return a.onMemory(toChange, &r.Embedder, func(ctx context.Context, m *memory.Memory) error {
				if r.Wait {
					if err := m.Wait(ctx); err != nil {
						return err
					}
				}
				search := a.searchOne
				if r.Queries != "" {
					search = a.searchMany
				}
				err := search(ctx, m, &r)
				a.pending(m)
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

// pending prints advice after the memory has reported that it finds some entries by their words
// alone.
func (a *app) pending(m *memory.Memory) {
	if m.Pending() > 0 {
		a.err.Printf("flowrun: with --wait they get their vectors first.\n")
	}
}

// found asks the memory one query.
func (a *app) found(ctx context.Context, m *memory.Memory, r *args.MemorySearch, query string) ([]ui.Found, error) {
	hits, err := m.Search(ctx, memory.Query{Text: query, K: r.K, Viewer: viewer(r.Agent), Type: entry.Type(r.Type), Tag: r.Tag, Since: r.From, Everything: r.All})
	if err != nil {
		return nil, err
	}
	list := make([]ui.Found, len(hits))
	for i := range hits {
		list[i] = ui.Found{Item: hits[i].Item, Score: hits[i].Score}
		if r.Explain {
			list[i].Parts = partsOf(&hits[i])
		}
	}
	return list, nil
}

func partsOf(h *memory.Hit) ui.Parts {
	p := &h.Parts
	return ui.Parts{{Name: "words", Value: p.Words}, {Name: "previous", Value: p.Previous}, {Name: "meaning", Value: p.Meaning},
		{Name: "word_vectors", Value: p.WordVectors}, {Name: "neighbours", Value: p.Neighbours}, {Name: "recency", Value: p.Recency},
		{Name: "importance", Value: p.Importance}, {Name: "uses", Value: p.Uses}, {Name: "superseded", Value: p.Superseded}}
}

// searchOne answers the query of the command line.
func (a *app) searchOne(ctx context.Context, m *memory.Memory, r *args.MemorySearch) error {
	list, err := a.found(ctx, m, r, r.Query())
	if err != nil {
		return err
	}
	if r.JSON {
		ui.FoundJSON(a.out, r.Query(), list)
		return nil
	}
	ui.FoundText(a.out, list, moments())
	if len(list) == 0 {
		a.err.Printf("Nothing fits.\n")
	}
	return nil
}

// searchMany answers queries as they arrive, one per line.
func (a *app) searchMany(ctx context.Context, m *memory.Memory, r *args.MemorySearch) error {
	in, _, err := a.input(ctx, r.Queries)
	if err != nil {
		return err
	}
	defer in.Close()
	lines, refused := bufio.NewReaderSize(in, 64<<10), 0
	for n := 1; ctx.Err() == nil; n++ {
		line, err := readLine(lines, MaxQueryLine)
		switch {
		case err == io.EOF:
			if refused > 0 {
				return &ended{exitNo}
			}
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && !errors.Is(err, errLong):
			return fmt.Errorf("reading %s: %w", nameOf(r.Queries), err)
		}
		if err == nil && len(strings.TrimSpace(string(line))) == 0 {
			continue
		}
		var q queryLine
		if err == nil {
			q, err = readQuery(line)
		}
		var list []ui.Found
		if err == nil {
			if list, err = a.found(ctx, m, r, q.Query); err != nil && ctx.Err() != nil {
				break
			}
		}
		if err != nil {
			refused++
			err = fmt.Errorf("%s:%d: %w", nameOf(r.Queries), n, err)
			a.err.Printf("flowrun: %s\n", ui.Clean(err.Error()))
		}
		a.answer(r, q, list, err)
	}
	return ctx.Err()
}

// answer writes the result of one query of a batch.
func (a *app) answer(r *args.MemorySearch, q queryLine, list []ui.Found, err error) {
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
		ui.FoundText(a.out, list, moments())
	}
}

// queryLine is a line of a file of queries.
type queryLine struct {
	ID    string `json:"id"`
	Query string `json:"query"`
}

// readQuery reads one line. It ignores unknown members, so that users may keep notes beside a
// query.
func readQuery(line []byte) (q queryLine, err error) {
	if !utf8.Valid(line) {
		return q, errors.New("it is not UTF-8")
	}
	if err := json.Unmarshal(line, &q); err != nil {
		return q, fmt.Errorf(`no query such as {"id":"0","query":"…"}: %w`, err)
	}
	if strings.TrimSpace(q.Query) == "" {
		return q, errors.New(`it has no "query"`)
	}
	return q, nil
}

package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/memory/entry"
)

// Writers are the runs and the authors that did something to the memory, sorted: also those that only used what was there, or
// whose entries are gone.
type Writers struct{ Runs, Authors []string }

// Writers tells who did something to the memory.
func (m *Memory) Writers(ctx context.Context) (Writers, error) {
	if err := m.refresh(ctx); err != nil {
		return Writers{}, fmt.Errorf("looking who wrote to the memory: %w", err)
	}
	runs, authors := map[string]bool{}, map[string]bool{}
	m.store.View(func(s *entry.State) {
		s.Records(func(r *entry.Record) bool {
			runs[r.By.Run], authors[r.By.Author] = true, true
			return true
		})
	})
	return Writers{named(runs), named(authors)}, nil
}

// named are the names of a set, sorted, without the empty one.
func named(set map[string]bool) []string {
	var out []string
	for name := range set { // any order: they are sorted
		if name != "" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

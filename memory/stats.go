package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/memory/entry"
)

// Stats counts what a memory holds. Reverted entries are in Reverted alone.
type Stats struct {
	Entries                                                             int
	Visible, Superseded, Archived, Working, Forgotten, Pinned, Reverted int
	Types, Scopes, Agents                                               []Count // by name
	Records                                                             uint64
	Model                                                               string // of the embedder; "" for none
	Dim                                                                 int    // 0 while unknown
	WordVectors                                                         bool
	Pending                                                             int // entries that have no vectors yet
}

// Count is how many entries something has.
type Count struct {
	Name    string
	Entries int
}

// Stats counts.
func (m *Memory) Stats(ctx context.Context) (Stats, error) {
	if err := m.refresh(ctx); err != nil {
		return Stats{}, fmt.Errorf("counting the memory: %w", err)
	}
	s := Stats{WordVectors: m.o.WordVectors, Pending: m.Pending()}
	if e := m.o.Embedder; e != nil {
		s.Model, s.Dim = e.Model(), e.Dim()
	}
	types, scopes, agents := map[string]int{}, map[string]int{}, map[string]int{}
	m.store.View(func(state *entry.State) {
		s.Records = state.Last()
		state.Each(func(i *entry.Item) bool {
			if i.Reverted {
				s.Reverted++
				return true
			}
			s.Entries++
			for n, is := range map[*int]bool{ // any order: each counts for itself
				&s.Visible: i.Visible() && !i.Archived, &s.Superseded: i.SupersededBy != "", &s.Archived: i.Archived,
				&s.Working: i.Working && !i.Archived, &s.Forgotten: i.Forgotten, &s.Pinned: i.Pinned,
			} {
				if is {
					*n++
				}
			}
			types[string(i.Kind())]++
			scopes[string(i.Scope)]++
			if i.Agent != "" {
				agents[i.Agent]++
			}
			return true
		})
	})
	s.Types, s.Scopes, s.Agents = counts(types), counts(scopes), counts(agents)
	return s, nil
}

func counts(of map[string]int) []Count {
	var out []Count
	for name, n := range of { // any order: they are sorted
		out = append(out, Count{name, n})
	}
	slices.SortFunc(out, func(a, b Count) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

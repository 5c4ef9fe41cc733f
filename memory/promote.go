package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/learn"
)

// Promote lets others see entries: whoever sees the scope. Only a rule or a person may. A learning that is there already, word
// for word, counts up there, and is hidden behind it. A pattern that had come of one, and that not all of them see who see the
// scope, is reverted: what is promoted is in sight again, and the rest is consolidated anew.
func (m *Memory) Promote(ctx context.Context, ids []string, to entry.Scope, src entry.Source) error {
	if src.Trust != entry.ByRule && src.Trust != entry.ByPerson {
		return fmt.Errorf("%w: only a rule or a person promotes, not %s", ErrNotAllowed, author(src))
	}
	if err := checkScope(to); err != nil {
		return err
	}
	if m.o.ReadOnly {
		return ErrReadOnly
	}
	if len(ids) == 0 {
		return nil
	}
	return m.update(ctx, func(s *entry.State) ([]entry.Record, error) {
		if err := allMay(s, ids, src); err != nil {
			return nil, err
		}
		m.sync(s)
		out := []entry.Record{{Op: entry.Promote, IDs: ids, Scope: to, By: src}}
		stale := staleIn(s, ids, to)
		if len(stale) > 0 {
			out = append(out, entry.Record{Op: entry.Revert, IDs: stale, By: src, Reason: "made of what was promoted"})
		}
		promoted := map[string]string{} // by what is repeated
		for _, id := range ids {
			i, _ := s.Get(id)
			i.Scope = to
			if slices.Contains(stale, i.SupersededBy) {
				i.SupersededBy = ""
			}
			key := learn.Key(i.Entry)
			if key == "" || !i.Visible() {
				continue
			}
			of := cmp.Or(promoted[key], m.repeated(key), id)
			if m.behind(of, id) {
				of = id
			}
			if promoted[key] = of; of != id {
				out = append(out, entry.Record{Op: entry.Repeat, IDs: []string{of}, Other: id, By: src},
					entry.Record{Op: entry.Supersede, IDs: []string{id}, Other: of, By: src})
			}
		}
		now := m.now()
		for n := range out {
			out[n].At = now
		}
		return out, nil
	})
}

// staleIn are the patterns of entries that are promoted to a scope, of which not all know who see the scope, or that would tell of
// them where they are no longer.
func staleIn(s *entry.State, ids []string, to entry.Scope) []string {
	left := map[entry.Scope]bool{}
	for _, id := range ids {
		i, _ := s.Get(id)
		left[i.Scope] = true
	}
	return slices.DeleteFunc(consolidatedTo(s, ids), func(id string) bool {
		p, _ := s.Get(id)
		return p.Scope == to || p.Scope == entry.Shared && !left[entry.Shared]
	})
}

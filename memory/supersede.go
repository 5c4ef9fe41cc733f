package memory

import (
	"context"
	"slices"

	"github.com/flowrun/flowrun/memory/entry"
)

// Supersede adds an entry that stands for the old ones from now on, and returns its id. The old ones stay, and are found when
// everything is asked for. Patterns that say what they said are reverted. The entry's scope is as given; its source is src.
func (m *Memory) Supersede(ctx context.Context, old []string, by entry.Entry, src entry.Source) (string, error) {
	if m.o.ReadOnly {
		return "", ErrReadOnly
	}
	if len(old) == 0 {
		return "", bad("nothing is named that is to be superseded")
	}
	by.By = src
	d := draft{Entry: by, dated: !by.CreatedAt.IsZero(), named: by.ID != ""}
	now := m.now()
	if err := d.prepare(now); err != nil {
		return "", err
	}
	drafts := []draft{d}
	m.embedNow(ctx, drafts)
	err := m.update(ctx, func(s *entry.State) ([]entry.Record, error) {
		m.sync(s)
		w := m.writer(s, now)
		a, err := w.add(&drafts[0])
		if err != nil {
			return nil, err
		}
		left := old
		if a.Known {
			left = slices.DeleteFunc(slices.Clone(old), func(id string) bool {
				i, _ := s.Get(id)
				return i.SupersededBy == a.ID
			})
		}
		if len(left) > 0 {
			w.put(entry.Record{Op: entry.Supersede, IDs: left, Other: a.ID, By: src})
			if _, stale := madeOf(s, left, src); len(stale) > 0 {
				w.put(entry.Record{Op: entry.Revert, IDs: stale, By: src, Reason: "made of what was superseded"})
			}
		}
		return w.records, allMay(s, left, src)
	})
	return drafts[0].ID, err
}

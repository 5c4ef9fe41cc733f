package memory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/memory/entry"
)

// Filter says which entries to list. The zero value lists what is shared and neither superseded, archived nor at work.
type Filter struct {
	Viewer Viewer
	Type   entry.Type
	Tag    string
	Since  time.Time // created since
	// Run and Author are who wrote an entry, or came to it again.
	Run, Author string
	// Everything lists also what is hidden: superseded, archived, at work, forgotten. What was reverted is never listed.
	Everything bool
}

// wants tells whether a filter takes an entry; again are those that its Run or Author counted up.
func (f *Filter) wants(i *entry.Item, again map[string]bool) bool {
	return !i.Reverted && f.Viewer.sees(i.Scope) &&
		(f.Everything || i.Visible() && !i.Archived) &&
		(f.Type == "" || i.Kind() == f.Type) &&
		(f.Tag == "" || slices.Contains(i.Tags, f.Tag)) &&
		((f.Run == "" || i.By.Run == f.Run) && (f.Author == "" || i.By.Author == f.Author) || again[i.ID]) &&
		(f.Since.IsZero() || !i.CreatedAt.Before(f.Since))
}

// List returns entries in the order in which they were written.
func (m *Memory) List(ctx context.Context, f Filter) ([]entry.Item, error) {
	if err := m.refresh(ctx); err != nil {
		return nil, fmt.Errorf("listing the memory: %w", err)
	}
	again := m.again(&f)
	m.mu.RLock()
	defer m.mu.RUnlock()
	var out []entry.Item
	for _, d := range m.index.docs {
		if f.wants(&d.item, again) {
			out = append(out, d.item)
		}
	}
	return out, nil
}

// again are the entries that the run or author of a filter came to once more, after somebody else had written them.
func (m *Memory) again(f *Filter) map[string]bool {
	if f.Run == "" && f.Author == "" {
		return nil
	}
	who, ids := Selector{Run: f.Run, Author: f.Author}, map[string]bool{}
	m.store.View(func(s *entry.State) {
		s.Each(func(i *entry.Item) bool {
			if len(who.repeats(s, i)) > 0 {
				ids[i.ID] = true
			}
			return true
		})
	})
	return ids
}

// Show returns an entry, hidden or not, and the records about it, in order. An id that is not there is [ErrNoEntry]. It is for
// people: it knows no viewer.
func (m *Memory) Show(ctx context.Context, id string) (i entry.Item, history []entry.Record, err error) {
	if err := m.refresh(ctx); err != nil {
		return i, nil, fmt.Errorf("looking into the memory: %w", err)
	}
	m.store.View(func(s *entry.State) {
		var ok bool
		if i, ok = s.Get(id); !ok {
			err = fmt.Errorf("%w: %q", ErrNoEntry, id)
			return
		}
		history = s.History(id)
	})
	return i, history, err
}

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
	// Everything lists also what is hidden: superseded, archived, at work, forgotten. What was reverted is never listed.
	Everything bool
	Limit      int // the newest so many; 0: all
}

func (f *Filter) wants(i *entry.Item) bool {
	return !i.Reverted && f.Viewer.sees(i.Scope) &&
		(f.Everything || i.Visible() && !i.Archived) &&
		(f.Type == "" || typeOf(i) == f.Type) &&
		(f.Tag == "" || slices.Contains(i.Tags, f.Tag)) &&
		(f.Since.IsZero() || !i.CreatedAt.Before(f.Since))
}

// List returns entries in the order in which they were written.
func (m *Memory) List(ctx context.Context, f Filter) ([]entry.Item, error) {
	if err := m.refresh(ctx); err != nil {
		return nil, fmt.Errorf("listing the memory: %w", err)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	var out []entry.Item
	for _, d := range m.index.docs {
		if f.wants(&d.item) {
			out = append(out, d.item)
		}
	}
	if f.Limit > 0 && len(out) > f.Limit {
		out = slices.Clone(out[len(out)-f.Limit:])
	}
	return out, nil
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

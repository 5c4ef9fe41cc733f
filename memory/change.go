package memory

import (
	"context"
	"fmt"

	"github.com/flowrun/flowrun/memory/entry"
)

// Pin keeps entries in short-term memory whatever their age.
func (m *Memory) Pin(ctx context.Context, ids []string, src entry.Source, reason string) error {
	return m.change(ctx, entry.Record{Op: entry.Pin, IDs: ids, By: src, Reason: reason})
}

// Unpin ends that.
func (m *Memory) Unpin(ctx context.Context, ids []string, src entry.Source, reason string) error {
	return m.change(ctx, entry.Record{Op: entry.Unpin, IDs: ids, By: src, Reason: reason})
}

// Archive ends the working memory of a session, or one interval of it: its entries leave it, and are found from then on when
// everything is asked for. Archiving again does nothing. What src may not change stays, and is [ErrNotAllowed] where there is
// nothing else.
func (m *Memory) Archive(ctx context.Context, session string, src entry.Source) error {
	return m.update(ctx, func(s *entry.State) ([]entry.Record, error) {
		var ids []string
		var refused error
		for _, i := range s.All() {
			if inWorking(&i, session) {
				if err := mayChange(src, &i); err != nil {
					refused = err
					continue
				}
				ids = append(ids, i.ID)
			}
		}
		if len(ids) == 0 {
			return nil, refused
		}
		return []entry.Record{{At: m.now(), Op: entry.Archive, IDs: ids, By: src}}, nil
	})
}

// change appends one record about entries that are there and that its source may change.
func (m *Memory) change(ctx context.Context, r entry.Record) error {
	if len(r.IDs) == 0 {
		return nil
	}
	r.At = m.now()
	return m.update(ctx, func(s *entry.State) ([]entry.Record, error) {
		return []entry.Record{r}, allMay(s, r.IDs, r.By)
	})
}

// update decides and appends in one transaction, and then brings the index up to it.
func (m *Memory) update(ctx context.Context, f func(*entry.State) ([]entry.Record, error)) error {
	if err := m.store.Update(ctx, f); err != nil {
		return err
	}
	m.store.View(m.sync)
	m.work.wake()
	return nil
}

func allMay(s *entry.State, ids []string, src entry.Source) error {
	for _, id := range ids {
		i, ok := s.Get(id)
		if !ok {
			return fmt.Errorf("%w: %q", ErrNoEntry, id)
		}
		if err := mayChange(src, &i); err != nil {
			return err
		}
	}
	return nil
}

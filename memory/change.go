package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/memory/entry"
)

// Supersede adds an entry that stands for the old ones from now on, and returns its id. The old ones stay, and are found when
// everything is asked for. The entry's scope is as given; its source is src.
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
		}
		return w.records, allMay(s, left, src)
	})
	return drafts[0].ID, err
}

// Forget hides entries for good; their texts are no longer told. reason is for people.
func (m *Memory) Forget(ctx context.Context, ids []string, src entry.Source, reason string) error {
	return m.change(ctx, entry.Record{Op: entry.Forget, IDs: ids, By: src, Reason: reason})
}

// Pin keeps entries in short-term memory whatever their age.
func (m *Memory) Pin(ctx context.Context, ids []string, src entry.Source, reason string) error {
	return m.change(ctx, entry.Record{Op: entry.Pin, IDs: ids, By: src, Reason: reason})
}

// Unpin ends that.
func (m *Memory) Unpin(ctx context.Context, ids []string, src entry.Source, reason string) error {
	return m.change(ctx, entry.Record{Op: entry.Unpin, IDs: ids, By: src, Reason: reason})
}

// Promote lets others see entries: whoever sees the scope. Only a rule or a person may.
func (m *Memory) Promote(ctx context.Context, ids []string, to entry.Scope, src entry.Source) error {
	if src.Trust != entry.ByRule && src.Trust != entry.ByPerson {
		return fmt.Errorf("%w: only a rule or a person promotes, not %s", ErrNotAllowed, author(src))
	}
	if err := checkScope(to); err != nil {
		return err
	}
	return m.change(ctx, entry.Record{Op: entry.Promote, IDs: ids, Scope: to, By: src})
}

// Archive ends the working memory of a session, or one interval of it: its entries leave it, and are found from then on when
// everything is asked for. Archiving again does nothing.
func (m *Memory) Archive(ctx context.Context, session string, src entry.Source) error {
	if m.o.ReadOnly {
		return ErrReadOnly
	}
	return m.update(ctx, func(s *entry.State) ([]entry.Record, error) {
		var ids []string
		for _, i := range s.All() {
			if inWorking(&i, session) {
				if err := mayChange(src, &i); err != nil {
					return nil, err
				}
				ids = append(ids, i.ID)
			}
		}
		if len(ids) == 0 {
			return nil, nil
		}
		return []entry.Record{{At: m.now(), Op: entry.Archive, IDs: ids, By: src}}, nil
	})
}

// change appends one record about entries that are there and that its source may change.
func (m *Memory) change(ctx context.Context, r entry.Record) error {
	if m.o.ReadOnly {
		return ErrReadOnly
	}
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

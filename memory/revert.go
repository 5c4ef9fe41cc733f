package memory

import (
	"context"
	"slices"
	"time"

	"github.com/flowrun/flowrun/memory/entry"
)

// Selector names what to revert. What is set must all hold; one with nothing set names nothing.
type Selector struct {
	IDs    []string
	Run    string
	Author string
	// Since and Until bound the time at which the entry was written to the memory: from Since on, before Until.
	Since, Until time.Time
}

func (w *Selector) empty() bool {
	return len(w.IDs) == 0 && w.Run == "" && w.Author == "" && w.Since.IsZero() && w.Until.IsZero()
}

func (w *Selector) names(i *entry.Item, written time.Time) bool {
	return (len(w.IDs) == 0 || slices.Contains(w.IDs, i.ID)) &&
		(w.Run == "" || i.By.Run == w.Run) &&
		(w.Author == "" || i.By.Author == w.Author) &&
		(w.Since.IsZero() || !written.Before(w.Since)) &&
		(w.Until.IsZero() || written.Before(w.Until))
}

// Revert makes entries as if they had never been written, and returns their ids in the order in which they had been. What they
// superseded is back. A pattern that was made from any of them is reverted as well: what is left of its sources is
// consolidated anew. An id that is not there is [ErrNoEntry]; without a match nothing is written.
func (m *Memory) Revert(ctx context.Context, which Selector, src entry.Source, reason string) ([]string, error) {
	if m.o.ReadOnly {
		return nil, ErrReadOnly
	}
	if which.empty() {
		return nil, bad("nothing says what is to be reverted")
	}
	var ids []string
	err := m.update(ctx, func(s *entry.State) ([]entry.Record, error) {
		if err := allMay(s, which.IDs, src); err != nil {
			return nil, err
		}
		ids = ids[:0]
		gone := map[string]bool{}
		for _, i := range s.All() { // a pattern is put after its sources, so one walk finds those of patterns too
			if i.Forgotten || i.Reverted {
				continue
			}
			named := which.names(&i, written(s, i.ID))
			if !named && !(made(&i) && slices.ContainsFunc(i.DerivedFrom, func(id string) bool { return gone[id] })) {
				continue
			}
			if err := mayChange(src, &i); err != nil {
				if !named { // what others say that they made of it does not stand in the way
					continue
				}
				return nil, err
			}
			gone[i.ID] = true
			ids = append(ids, i.ID)
		}
		if len(ids) == 0 {
			return nil, nil
		}
		return []entry.Record{{At: m.now(), Op: entry.Revert, IDs: ids, By: src, Reason: reason}}, nil
	})
	return ids, err
}

func written(s *entry.State, id string) time.Time {
	r, _ := putOf(s, id)
	return r.At
}

// made says whether the memory itself made the entry from others.
func made(i *entry.Item) bool { return i.Type == entry.Pattern || i.Type == entry.Summary }

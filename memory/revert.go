package memory

import (
	"context"
	"slices"
	"strconv"
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

func (w *Selector) names(i *entry.Item, by entry.Source, written time.Time) bool {
	return (len(w.IDs) == 0 || slices.Contains(w.IDs, i.ID)) &&
		(w.Run == "" || by.Run == w.Run) &&
		(w.Author == "" || by.Author == w.Author) &&
		(w.Since.IsZero() || !written.Before(w.Since)) &&
		(w.Until.IsZero() || written.Before(w.Until))
}

// Revert makes entries as if they had never been written, and returns their ids in the order in which they had been. What they
// superseded is back. A pattern that was made from any of them is reverted as well: what is left of its sources is consolidated
// anew.
//
// What the run or author that is named did to older entries, or what was done to them at the time, is taken back as well: a
// pattern that they had worded reads again as it was made, and what they repeated does not count any more. An id that is not
// there is [ErrNoEntry]; without a match nothing is written.
func (m *Memory) Revert(ctx context.Context, which Selector, src entry.Source, reason string) ([]string, error) {
	if which.empty() {
		return nil, bad("no entries to revert are given")
	}
	var ids []string
	err := m.update(ctx, func(s *entry.State) ([]entry.Record, error) {
		if err := allMay(s, which.IDs, src); err != nil {
			return nil, err
		}
		var gone []string
		var out []entry.Record
		var err error
		if ids, gone, out, err = which.pick(s, src); err != nil {
			return nil, err
		}
		if len(gone) > 0 {
			out = append(out, entry.Record{Op: entry.Revert, IDs: gone})
		}
		now := m.now()
		for i := range out {
			out[i].At, out[i].By, out[i].Reason = now, src, reason
		}
		return out, nil
	})
	return ids, err
}

// pick finds what is to be reverted: ids are all of it, gone the entries that are, and changes what happens to others.
func (w *Selector) pick(s *entry.State, src entry.Source) (ids, gone []string, changes []entry.Record, err error) {
	is := map[string]bool{}     // gone
	for _, i := range s.All() { // a pattern is put after its sources, so one walk finds those of patterns too
		if i.Forgotten || i.Reverted {
			continue
		}
		named := w.names(&i, i.By, written(s, i.ID))
		without := !named && made(&i) && slices.ContainsFunc(i.DerivedFrom, func(id string) bool { return is[id] })
		r, worded := rewording(s, &i)
		worded = worded && w.names(&i, r.By, r.At)
		repeats := w.repeats(s, &i)
		if !named && !without && !worded && len(repeats) == 0 {
			continue
		}
		if err := mayChange(src, &i); err != nil {
			if !named && !worded { // what others say that they made of it does not stand in the way
				continue
			}
			return nil, nil, nil, err
		}
		ids = append(ids, i.ID)
		if is[i.ID] = named || without; is[i.ID] {
			gone = append(gone, i.ID)
			continue
		}
		if worded {
			changes = append(changes, entry.Record{Op: entry.Reword, IDs: []string{i.ID}})
		}
		changes = append(changes, repeats...)
	}
	return ids, gone, changes, nil
}

// repeats takes back what counted an entry up on behalf of who is named, or at the time.
func (w *Selector) repeats(s *entry.State, i *entry.Item) (back []entry.Record) {
	if i.Count == 1 || len(w.IDs) > 0 {
		return nil
	}
	done := map[string]bool{}
	history := s.History(i.ID)
	for _, r := range history {
		if r.Op == entry.Uncount {
			done[r.Other] = true
		}
	}
	for _, r := range history {
		seq := strconv.FormatUint(r.Seq, 10)
		if r.Op == entry.Repeat && r.Seq > i.Seq && !done[seq] && w.names(i, r.By, r.At) {
			back = append(back, entry.Record{Op: entry.Uncount, IDs: []string{i.ID}, Other: seq})
		}
	}
	return back
}

// rewording is the record by which a pattern reads as it does, where that is not the one that put it.
func rewording(s *entry.State, i *entry.Item) (entry.Record, bool) {
	var last entry.Record
	if i.Type != entry.Pattern {
		return last, false
	}
	for _, r := range s.History(i.ID) {
		if r.Op == entry.Put || r.Op == entry.Reword {
			last = r
		}
	}
	return last, last.Op == entry.Reword && last.Other != ""
}

func written(s *entry.State, id string) time.Time {
	r, _ := putOf(s, id)
	return r.At
}

// made says whether the memory itself made the entry from others.
func made(i *entry.Item) bool { return i.Type == entry.Pattern || i.Type == entry.Summary }

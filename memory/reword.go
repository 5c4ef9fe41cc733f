package memory

import (
	"context"
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/learn"
)

// Wording says which patterns are worded, and on whose behalf.
type Wording struct {
	// Viewer sees what may be sent. Patterns in the scope of a run are never sent.
	Viewer Viewer
	Most   int          // questions at most
	Again  bool         // also where an answer was refused before, or a rewording was reverted
	By     entry.Source // of the change; one that a rule or a person trusts
}

// Reword has patterns worded that read as a template has them, the newest first, and returns the ids of those that read otherwise
// now. It decides nothing else: what is grouped, kept or hidden stays. An answer that does not serve is noted, and the pattern
// keeps its words: it is asked about again only where o.Again says so. What was refused, and what ended the questions early, is
// in the error, which is the worder's own where that failed; its pattern is asked about the next time.
//
// The worder is asked outside of all locks and transactions. What it says is written if the pattern still stands as it was.
func (m *Memory) Reword(ctx context.Context, w learn.Worder, o Wording) (worded []string, err error) {
	if m.o.ReadOnly {
		return nil, ErrReadOnly
	}
	if o.By.Trust != entry.ByRule && o.By.Trust != entry.ByPerson {
		return nil, fmt.Errorf("%w: only a rule or a person has patterns worded, not %s", ErrNotAllowed, author(o.By))
	}
	asked := map[string]bool{}
	var errs []error
	for range o.Most {
		p, sources, err := m.unworded(ctx, &o, asked)
		if err != nil {
			return worded, errors.Join(append(errs, err)...)
		}
		if p.ID == "" {
			break
		}
		asked[p.ID] = true
		written, err := m.word(ctx, w, &o, &p, sources)
		if written {
			worded = append(worded, p.ID)
		}
		errs = append(errs, err)
		if err != nil && !errors.Is(err, learn.ErrRefused) {
			break
		}
	}
	return worded, errors.Join(errs...)
}

// word asks about one pattern, and writes what came of it.
func (m *Memory) word(ctx context.Context, w learn.Worder, o *Wording, p *entry.Item, sources []entry.Item) (written bool, err error) {
	e, refused := learn.Reword(p.Entry, sources, w)
	r := entry.Record{Op: entry.Reword, IDs: []string{p.ID}, Other: e.Text, By: o.By}
	switch {
	case errors.Is(refused, learn.ErrRefused):
		refused = fmt.Errorf("pattern %s keeps its words: %w", p.ID, refused)
		r.Other, r.Reason = "", learn.Clip(refused.Error(), maxReason)
	case refused != nil:
		return false, refused
	default:
		m.embedNow(ctx, []draft{{Entry: e}})
	}
	written, err = m.reworded(ctx, p.Seq, r)
	if err != nil {
		return false, fmt.Errorf("wording a pattern: %w", err)
	}
	return written && refused == nil, refused
}

// maxReason bounds what is noted of an answer that was refused, in bytes.
const maxReason = 200

// unworded is the newest pattern to be worded, with all that it was made from; the zero item where there is none.
func (m *Memory) unworded(ctx context.Context, o *Wording, asked map[string]bool) (p entry.Item, sources []entry.Item, err error) {
	if err := m.refresh(ctx); err != nil {
		return p, nil, fmt.Errorf("looking for patterns to be worded: %w", err)
	}
	m.store.View(func(s *entry.State) {
		all := s.All()
		for n := len(all) - 1; n >= 0; n-- {
			i := &all[n]
			if asked[i.ID] || !byTemplate(i) || !o.Viewer.sees(i.Scope) || !o.Again && triedBefore(s, i.ID) {
				continue
			}
			if from, ok := standing(s, i); ok {
				p, sources = *i, from
				return
			}
		}
	})
	return p, sources, nil
}

// byTemplate tells of a pattern that stands, outside of a run's scope, and that nobody has worded.
func byTemplate(i *entry.Item) bool {
	return i.Type == entry.Pattern && i.Auto && i.Visible() && !i.Scope.IsRun()
}

// triedBefore tells that a rewording was refused, or reverted, since the entry was put.
func triedBefore(s *entry.State, id string) (tried bool) {
	for _, r := range s.History(id) {
		if r.Op == entry.Put || r.Op == entry.Reword {
			tried = r.Op == entry.Reword
		}
	}
	return tried
}

// standing are the learnings that a pattern was made from; ok is false where one is forgotten, reverted, lost, or seen by others.
func standing(s *entry.State, p *entry.Item) (sources []entry.Item, ok bool) {
	for _, id := range p.DerivedFrom {
		i, ok := s.Get(id)
		if !ok || i.Forgotten || i.Reverted || i.Scope != p.Scope {
			return nil, false
		}
		sources = append(sources, i)
	}
	return sources, len(sources) > 0
}

// reworded writes the record if its pattern still stands as it was asked about.
func (m *Memory) reworded(ctx context.Context, seq uint64, r entry.Record) (written bool, err error) {
	r.At = m.now()
	err = m.update(ctx, func(s *entry.State) ([]entry.Record, error) {
		i, ok := s.Get(r.IDs[0])
		if written = ok && i.Seq == seq && byTemplate(&i); written {
			_, written = standing(s, &i)
		}
		if !written {
			return nil, nil
		}
		return []entry.Record{r}, nil
	})
	return written, err
}

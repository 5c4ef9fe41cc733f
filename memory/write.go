package memory

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/learn"
)

// Added says what became of an entry that was added.
type Added struct {
	ID string // of the entry that holds it now
	// Known marks an entry that was there already, under this id and with this content; nothing was written.
	Known bool
	// Repeat marks a learning that was there already, word for word, and was counted up.
	Repeat bool
	// Recalled marks a text that recall had put into a request and that came back; nothing was written.
	Recalled bool
	// Linked are the near repeats of it; Consolidated are the patterns that its agent's learnings came to.
	Linked       []string
	Consolidated []string
}

// Add keeps entries, all or none, and answers in their order. It is durable when it returns.
//
// An entry without an id is given one; an id that is taken by an entry with the same content makes Add do nothing, so that a
// caller may write again what it is not sure to have written; with other content it is [ErrExists]. An importance of 0 is set by
// the type. A learning that is there already in the same scope counts up there. Other errors: [ErrBad], [ErrNotAllowed],
// [ErrReadOnly], those of the store.
func (m *Memory) Add(ctx context.Context, es ...entry.Entry) ([]Added, error) {
	if m.o.ReadOnly {
		return nil, ErrReadOnly
	}
	now := m.now()
	out := make([]Added, len(es))
	drafts := make([]draft, 0, len(es))
	for i, e := range es {
		d := draft{Entry: e, at: i, dated: !e.CreatedAt.IsZero(), named: e.ID != ""}
		if m.unfence(&d.Entry) {
			out[i] = Added{ID: e.ID, Recalled: true}
			continue
		}
		if err := d.prepare(now); err != nil {
			return nil, err
		}
		drafts = append(drafts, d)
	}
	m.embedNow(ctx, drafts)
	err := m.store.Update(ctx, func(s *entry.State) ([]entry.Record, error) {
		m.sync(s)
		w := m.writer(s, now)
		w.fold = true
		for i := range drafts {
			a, err := w.add(&drafts[i])
			if err != nil {
				return nil, err
			}
			out[drafts[i].at] = a
		}
		return w.records, nil
	})
	if err != nil {
		return nil, fmt.Errorf("adding to the memory: %w", err)
	}
	m.store.View(m.sync)
	m.work.wake()
	return out, m.consolidateDue(ctx, drafts, out)
}

// draft is an entry on its way in.
type draft struct {
	entry.Entry
	at      int  // its place among the entries that were given
	dated   bool // the caller gave created_at
	named   bool // the caller gave the id
	weighed bool // the caller gave the importance
}

func (d *draft) prepare(now time.Time) error {
	if err := clean(&d.Entry, now); err != nil {
		return err
	}
	if d.named {
		if err := checkID(d.ID); err != nil {
			return err
		}
	}
	if d.By.Trust != entry.ByPerson && d.By.Trust != entry.ByRule {
		if strings.ContainsAny(d.ID, " []") {
			return bad("id %q has spaces or brackets, which part it from the rest of what is recalled", d.ID)
		}
		if d.CreatedAt.After(now) { // else nothing would ever be newer
			d.CreatedAt, d.dated = now, false
		}
	}
	if d.Importance == 0 && !d.weighed {
		d.Importance = learn.Importance(d.Type, d.Tags)
	}
	return place(&d.Entry)
}

package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
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
	// Repeat marks a learning that was there already, word for word, and was counted up; Of is the entry, as ID is.
	Repeat bool
	Of     string
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

// writer decides, inside one transaction, which records some entries become.
type writer struct {
	m       *Memory
	state   *entry.State
	now     time.Time
	fold    bool // count repeats up and link near ones
	records []entry.Record
	batch   map[string]*entry.Entry // by id: put by this transaction
	keys    map[string]string       // by what is repeated: id, likewise
	counted map[string]string       // by id: what was counted up for it by this transaction
}

func (m *Memory) writer(s *entry.State, now time.Time) *writer {
	return &writer{m: m, state: s, now: now, batch: map[string]*entry.Entry{}, keys: map[string]string{}, counted: map[string]string{}}
}

func (w *writer) add(d *draft) (Added, error) {
	if d.named {
		known, err := w.known(d)
		if known || err != nil {
			return Added{ID: d.ID, Known: known}, err
		}
	}
	if of := w.repeated(d); of != "" {
		w.put(entry.Record{Op: entry.Repeat, IDs: []string{of}, Other: d.ID, By: d.By})
		w.counted[d.ID] = of
		return Added{ID: of, Repeat: true, Of: of}, nil
	}
	if !d.named {
		if known := w.name(&d.Entry); known {
			return Added{ID: d.ID, Known: true}, nil
		}
	}
	e := d.Entry
	w.batch[e.ID] = &e
	w.put(entry.Record{Op: entry.Put, Entry: &e, By: e.By})
	a := Added{ID: e.ID}
	if w.fold {
		w.keys[learn.Key(e)] = e.ID
	}
	if w.fold && e.IsLearning() {
		if a.Linked = w.m.near(&e); len(a.Linked) > 0 {
			w.put(entry.Record{Op: entry.Link, IDs: a.Linked, Other: e.ID, By: e.By})
		}
	}
	return a, nil
}

// repeated is the entry of which the draft is a repeat, word for word and in the same scope; "" for none.
func (w *writer) repeated(d *draft) string {
	k := learn.Key(d.Entry)
	if !w.fold || k == "" {
		return ""
	}
	if id := w.keys[k]; id != "" {
		return id
	}
	return w.m.repeated(k)
}

func (w *writer) put(r entry.Record) {
	r.At = w.now
	w.records = append(w.records, r)
}

// known says whether the entry of this id is there with the same content. One that was forgotten is known as well:
// writing it again does not bring it back.
func (w *writer) known(d *draft) (bool, error) {
	old, gone := w.batch[d.ID], false
	if old == nil {
		old, gone = firstOf(w.state, d.ID)
	}
	if gone {
		return true, nil
	}
	if old == nil {
		return w.counted[d.ID] != "" || w.m.countedAs(d.ID) != "", nil
	}
	if !same(old, d) {
		return false, fmt.Errorf("%w: %q", ErrExists, d.ID)
	}
	return true, nil
}

// firstOf is the entry as it was put; gone tells of one whose texts the store no longer has.
func firstOf(s *entry.State, id string) (e *entry.Entry, gone bool) {
	i, ok := s.Get(id)
	if !ok {
		return nil, false
	}
	if i.Reverted && !i.Forgotten {
		return nil, false
	}
	r, _ := putOf(s, id)
	return r.Entry, r.Entry == nil || i.Forgotten
}

// putOf is the record that last put an entry.
func putOf(s *entry.State, id string) (put entry.Record, ok bool) {
	for _, r := range s.History(id) {
		if r.Op == entry.Put {
			put, ok = r, true
		}
	}
	return put, ok
}

// same compares what is remembered; who wrote it is no part of that, nor is a time that nobody gave.
func same(old *entry.Entry, d *draft) bool {
	a, b := *old, d.Entry
	a.By, b.By = entry.Source{}, entry.Source{}
	if !d.dated {
		b.CreatedAt = a.CreatedAt
	}
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return errors.Join(err1, err2) == nil && string(x) == string(y)
}

// name gives the entry an id made from its content: M- and as many digits of its hash as no other entry has, 8 at least.
// It says whether the entry is there already under that id.
func (w *writer) name(e *entry.Entry) bool {
	e.ID = ""
	b, err := json.Marshal(e)
	if err != nil { // texts and numbers that were checked
		panic(err)
	}
	sum := sha256.Sum256(b)
	digits := hex.EncodeToString(sum[:])
	for n := 8; n <= len(digits); n += 4 {
		id := "M-" + digits[:n]
		old := w.batch[id]
		if old == nil {
			i, taken := w.state.Get(id)
			if !taken || i.Reverted && !i.Forgotten {
				e.ID = id
				return false
			}
			old, _ = firstOf(w.state, id)
		}
		if old != nil && old.CreatedAt.Equal(e.CreatedAt) && old.Whole() == e.Whole() {
			e.ID = id
			return true
		}
	}
	panic("two entries have one SHA-256")
}

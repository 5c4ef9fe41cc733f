package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/learn"
)

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
		return Added{ID: of, Repeat: true}, nil
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

func (w *writer) put(r entry.Record) {
	r.At = w.now
	w.records = append(w.records, r)
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

// same compares what is remembered; who wrote it is not a part of that, nor is a time that nobody gave.
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

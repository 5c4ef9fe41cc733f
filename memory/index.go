package memory

import (
	"cmp"
	"slices"

	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/rank"
	"github.com/flowrun/flowrun/memory/vector"
)

// index is what the reads look at: all entries as the state last had them, their words, and their vectors as far as there are
// any. It is made of the state and can be made anew from it.
type index struct {
	state   *entry.State // that it was brought up to, as far as record seq
	seq     uint64
	vectors *vectors
	docs    []*doc // in the order of the state
	byID    map[string]*doc
	lists   lists
	slots   []*doc            // by slot of the corpus; nil where a text was removed
	rows    *rows             // of the slots
	keys    map[string][]*doc // that say the same, word for word
	counted map[string]string // by the id under which a repeat came: the entry that was counted up
	corpus  rank.Corpus
	meaning *vector.Texts // by the embedder
	means   *directed     // by their words
	missing map[int]*doc  // by slot: texts that wait for the embedder
}

// doc is an entry in the index.
type doc struct {
	item   entry.Item
	at     int // its place in the order of the state
	whole  string
	slot   int // -1: nothing of it is to be found
	pieces []piece
	key    string // of what repeats it
	count  int    // how often it was seen when its history was last read
}

func newIndex(v *vectors) *index {
	return &index{
		vectors: v, byID: map[string]*doc{}, keys: map[string][]*doc{}, counted: map[string]string{},
		meaning: vector.NewTexts(0), means: newDirected(v), missing: map[int]*doc{}, lists: newLists(), rows: newRows(),
	}
}

// sync brings the index up to the state. It takes over what has changed since the last call. It looks at every
// entry only if the state was replaced, as after damage or with another database.
func (x *index) sync(s *entry.State) {
	var fresh []*doc
	if x.state != s {
		x.docs = x.docs[:0]
		s.Each(func(i *entry.Item) bool {
			d, isNew := x.look(s, i)
			if isNew {
				fresh = append(fresh, d)
			}
			d.at = len(x.docs)
			x.docs = append(x.docs, d)
			return true
		})
		if len(x.docs) < len(x.byID) {
			x.sweep()
		}
	} else {
		s.Changed(x.seq, func(i *entry.Item) bool {
			old := x.byID[i.ID]
			if d, isNew := x.look(s, i); isNew {
				fresh = append(fresh, d)
				x.order(d, old)
			}
			return true
		})
	}
	x.state, x.seq = s, s.Last()
	x.lists.sort()
	x.take(slices.DeleteFunc(fresh, func(d *doc) bool { return d.item.Forgotten || d.item.Reverted }))
}

// look takes over what the state has of one entry. It gives its doc, which is a new one where the entry is new, was put again, or
// was reworded.
func (x *index) look(s *entry.State, i *entry.Item) (d *doc, isNew bool) {
	d = x.byID[i.ID]
	if d == nil || d.item.Seq != i.Seq || d.slot >= 0 && d.item.Text != i.Text {
		x.drop(d)
		x.unlist(d)
		d, isNew = &doc{slot: -1, count: 1}, true
		x.byID[i.ID] = d
	}
	moved, over := d.item.Scope != i.Scope, !d.item.Archived && i.Archived
	if listingOf(&d.item) == listingOf(i) {
		d.item = *i
	} else {
		x.unlist(d)
		d.item = *i
		x.list(d)
	}
	switch {
	case i.Forgotten || i.Reverted:
		x.drop(d)
	case moved && d.slot >= 0:
		x.setKey(d)
		x.means.stale = true // what lies in the scope of a run takes no part in the fit
	case over && d.slot >= 0:
		x.embed(d)
	}
	x.see(d)
	if i.Count != d.count {
		x.count(s, d)
	}
	return d, isNew
}

// order gives a new doc its place: that of the old one, if the entry was reworded, else the last.
func (x *index) order(d, old *doc) {
	if old != nil && old.item.Seq == d.item.Seq {
		d.at = old.at
		x.docs[d.at] = d
		return
	}
	if old != nil { // put again
		x.docs = slices.Delete(x.docs, old.at, old.at+1)
		for at, d := range x.docs[old.at:] {
			d.at = old.at + at
		}
	}
	d.at = len(x.docs)
	x.docs = append(x.docs, d)
}

// sweep drops what the state no longer has, as damage took it.
func (x *index) sweep() {
	there := make(map[string]bool, len(x.docs))
	for _, d := range x.docs {
		there[d.item.ID] = true
	}
	for id, d := range x.byID { // any order: each is dropped for itself
		if !there[id] {
			x.drop(d)
			x.unlist(d)
			delete(x.byID, id)
		}
	}
}

// countedAs is the entry that was counted up when one of this id was added; "" for none.
func (x *index) countedAs(id string) string {
	of := x.counted[id]
	if d := x.byID[of]; d == nil || d.slot < 0 {
		return ""
	}
	return of
}

// drop removes what is to be found of an entry.
func (x *index) drop(d *doc) {
	if d == nil || d.slot < 0 {
		return
	}
	x.unkey(d)
	x.corpus.Remove(d.item.ID)
	if err := x.meaning.Delete(d.slot); err != nil {
		x.vectors.warn("a vector of the memory stays: " + err.Error())
	}
	x.means.remove(d)
	delete(x.missing, d.slot)
	x.means.stale = true
	x.slots[d.slot] = nil
	x.rows.views = nil
	d.slot = -1
}

// repeated is the entry that has the key; "" for none. Of several, as an import or a promotion leaves them, it is the first that
// stands for itself, or the first.
func (m *Memory) repeated(key string) (id string) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var first *entry.Item
	hidden := func(i *entry.Item) int { return min(1, len(i.SupersededBy)) }
	for _, d := range m.index.keys[key] {
		if i := &d.item; first == nil || cmp.Or(cmp.Compare(hidden(i), hidden(first)), cmp.Compare(i.Seq, first.Seq)) < 0 {
			first, id = i, i.ID
		}
	}
	return id
}

// behind tells whether what stands for an entry is another one, or nothing that all see who see the entry.
func (m *Memory) behind(id, other string) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	d := m.index.byID[id]
	if d == nil || id == other {
		return false
	}
	n := m.index.now(&d.item)
	return n == nil || n.ID == other || n.Scope != d.item.Scope && n.Scope != entry.Shared
}

func (m *Memory) countedAs(id string) string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.index.countedAs(id)
}

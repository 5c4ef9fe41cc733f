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
	vectors *vectors
	docs    []*doc // in the order of the state
	byID    map[string]*doc
	slots   []*doc            // by slot of the corpus; nil where a text was removed
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
	whole  string
	slot   int // -1: nothing of it is to be found
	pieces []piece
	key    string // of what repeats it
	count  int    // how often it was seen when its history was last read
}

func newIndex(v *vectors) *index {
	return &index{
		vectors: v, byID: map[string]*doc{}, keys: map[string][]*doc{}, counted: map[string]string{},
		meaning: vector.NewTexts(0), means: newDirected(v), missing: map[int]*doc{},
	}
}

// sync brings the index up to the state. It looks at every entry, and works for those that are new or gone.
func (x *index) sync(s *entry.State) {
	x.docs = x.docs[:0]
	var fresh []*doc
	s.Each(func(i *entry.Item) bool {
		d := x.byID[i.ID]
		if d == nil || d.item.Seq != i.Seq || d.slot >= 0 && d.item.Text != i.Text { // new, put again, or reworded
			x.drop(d)
			d = &doc{slot: -1, count: 1}
			x.byID[i.ID] = d
			fresh = append(fresh, d)
		}
		moved, over := d.item.Scope != i.Scope, !d.item.Archived && i.Archived
		d.item = *i
		x.docs = append(x.docs, d)
		switch {
		case i.Forgotten || i.Reverted:
			x.drop(d)
		case moved && d.slot >= 0:
			x.setKey(d)
		case over && d.slot >= 0:
			x.embed(d)
		}
		if i.Count != d.count {
			x.count(s, d)
		}
		return true
	})
	if len(x.docs) < len(x.byID) {
		x.sweep()
	}
	x.take(slices.DeleteFunc(fresh, func(d *doc) bool { return d.item.Forgotten || d.item.Reverted }))
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
	x.slots[d.slot] = nil
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

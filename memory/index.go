package memory

import (
	"fmt"
	"slices"
	"sync"

	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/learn"
	"github.com/flowrun/flowrun/memory/rank"
)

// index is what the reads look at: all entries as the state last had them, their words, and their vectors as far as there are
// any. It is made of the state and can be made anew from it.
type index struct {
	vectors *vectors
	docs    []*doc // in the order of the state
	byID    map[string]*doc
	slots   []*doc // by slot of the corpus; nil where a text was removed
	keys    map[string]string
	counted map[string]string // by the id under which a repeat came: the entry that was counted up
	corpus  rank.Corpus
	meaning *lane
	means   *directed
	missing map[int]*doc // by slot: texts that wait for the embedder
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
		vectors: v, byID: map[string]*doc{}, keys: map[string]string{}, counted: map[string]string{},
		meaning: newLane(), means: newDirected(v), missing: map[int]*doc{},
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

// take makes new entries findable: by their words, by the embedder's vectors and by the word vectors. The three have nothing in
// common, so they are done side by side: half of the time that it takes to open a large store.
func (x *index) take(fresh []*doc) {
	divide(fresh, func(d *doc) {
		d.whole = d.item.Whole()
		d.pieces = pieces(d.whole)
	})
	for _, d := range fresh {
		d.slot = len(x.slots)
		x.slots = append(x.slots, d)
	}
	var sides sync.WaitGroup
	sides.Go(func() {
		for _, d := range fresh {
			x.add(d)
		}
	})
	sides.Go(func() {
		for _, d := range fresh {
			x.embed(d)
		}
	})
	x.means.sync(x, fresh)
	sides.Wait()
}

// divide calls f for all of a list, from all cores where there are many.
func divide(docs []*doc, f func(*doc)) {
	const portion = 256
	var all sync.WaitGroup
	for part := range slices.Chunk(docs, portion) {
		work := func() {
			for _, d := range part {
				f(d)
			}
		}
		if len(docs) > portion {
			all.Go(work)
		} else {
			work()
		}
	}
	all.Wait()
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

// add takes in the words of an entry, under the slot that it has been given.
func (x *index) add(d *doc) {
	i := &d.item
	session := i.Session
	if i.IsLearning() || made(i) { // they have no neighbours: what one task taught says nothing of the next
		session = ""
	}
	if slot := x.corpus.Add(rank.Doc{ID: i.ID, Text: d.whole, Session: session, At: i.CreatedAt}); slot != d.slot {
		panic(fmt.Sprintf("the words of %q are in slot %d, its vectors in %d", i.ID, slot, d.slot))
	}
	x.setKey(d)
}

// setKey notes under which key a repeat of the entry is found. Of equal entries, as only an import leaves them, the first counts.
func (x *index) setKey(d *doc) {
	if x.keys[d.key] == d.item.ID {
		delete(x.keys, d.key)
	}
	d.key = learn.Key(d.item.Entry)
	if _, taken := x.keys[d.key]; d.key != "" && !taken {
		x.keys[d.key] = d.item.ID
	}
}

// count notes the ids under which an entry came again.
func (x *index) count(s *entry.State, d *doc) {
	d.count = d.item.Count
	for _, r := range s.History(d.item.ID) {
		if r.Op == entry.Repeat && r.Other != "" {
			x.counted[r.Other] = d.item.ID
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

// embed takes in the vectors of the embedder, or notes that they are missing. Working memory has none: nobody searches it.
func (x *index) embed(d *doc) {
	if x.vectors.embedder == nil || d.slot < 0 || d.item.Working && !d.item.Archived || x.meaning.texts.Has(d.slot) {
		return
	}
	vs := make([][]float32, len(d.pieces))
	for n, p := range d.pieces {
		v, known := x.vectors.meaning.get(p.key)
		if !known {
			x.missing[d.slot] = d
			return
		}
		vs[n] = v
	}
	delete(x.missing, d.slot)
	if err := x.meaning.add(d.slot, vs); err != nil {
		x.vectors.warn("a vector of the memory is left out: " + err.Error())
	}
}

// drop removes what is to be found of an entry.
func (x *index) drop(d *doc) {
	if d == nil || d.slot < 0 {
		return
	}
	if x.keys[d.key] == d.item.ID {
		delete(x.keys, d.key)
	}
	x.corpus.Remove(d.item.ID)
	if err := x.meaning.remove(d.slot); err != nil {
		x.vectors.warn("a vector of the memory stays: " + err.Error())
	}
	x.means.remove(d)
	delete(x.missing, d.slot)
	x.slots[d.slot] = nil
	d.slot = -1
}

// repeated is the entry that has the key; "" for none.
func (m *Memory) repeated(key string) string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.index.keys[key]
}

func (m *Memory) countedAs(id string) string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.index.countedAs(id)
}

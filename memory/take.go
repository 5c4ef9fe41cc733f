package memory

import (
	"fmt"
	"slices"
	"sync"

	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/learn"
	"github.com/flowrun/flowrun/memory/rank"
)

// take makes new entries findable: by their words, by the embedder's vectors and by the word vectors. The three have nothing in
// common, so they are done side by side: half of the time that it takes to open a large store.
func (x *index) take(fresh []*doc) {
	if len(fresh) == 0 {
		x.means.sync(x, nil)
		return
	}
	divide(fresh, func(d *doc) {
		d.whole = d.item.Whole()
		d.pieces = pieces(d.whole)
	})
	for _, d := range fresh {
		d.slot = len(x.slots)
		x.slots = append(x.slots, d)
		x.see(d)
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

// setKey notes under which key a repeat of the entry is found.
func (x *index) setKey(d *doc) {
	x.unkey(d)
	if d.key = learn.Key(d.item.Entry); d.key != "" {
		x.keys[d.key] = append(x.keys[d.key], d)
	}
}

func (x *index) unkey(d *doc) {
	left := slices.DeleteFunc(x.keys[d.key], func(o *doc) bool { return o == d })
	if x.keys[d.key] = left; len(left) == 0 {
		delete(x.keys, d.key)
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

// embed takes in the vectors of the embedder, or notes that they are missing. Working memory has none: nobody searches it.
func (x *index) embed(d *doc) {
	if x.vectors.embedder == nil || d.slot < 0 || d.item.Working && !d.item.Archived || x.meaning.Has(d.slot) {
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
	if err := x.meaning.Put(d.slot, vs[0], vs[1:]...); err != nil {
		x.vectors.warn("a vector of the memory is left out: " + err.Error())
	}
}

package memory

import (
	"cmp"
	"slices"
	"time"

	"github.com/flowrun/flowrun/memory/entry"
)

// lists are the entries that each recall asks for, so that none looks at all that there are.
type lists struct {
	pinned  map[*doc]struct{}
	working map[string]map[*doc]struct{} // by session
	learned []*doc                       // what tasks left behind, by when it was last seen and then by when it was written
	arrived []*doc                       // what sort puts into learned
}

func newLists() lists {
	return lists{pinned: map[*doc]struct{}{}, working: map[string]map[*doc]struct{}{}}
}

// listing says to which of the lists an entry belongs, and where it stands in them.
type listing struct {
	pinned, working, learned bool
	session                  string
	last                     time.Time
	seq                      uint64
}

func listingOf(i *entry.Item) listing {
	return listing{i.Pinned, inWorking(i, i.Session), isLearned(i), i.Session, i.Last, i.Seq}
}

// list adds an entry to the lists that it belongs to, and unlist takes it out of them. Its item is not changed in between.
func (x *index) list(d *doc) {
	i, l := &d.item, &x.lists
	if i.Pinned {
		l.pinned[d] = struct{}{}
	}
	if inWorking(i, i.Session) {
		if l.working[i.Session] == nil {
			l.working[i.Session] = map[*doc]struct{}{}
		}
		l.working[i.Session][d] = struct{}{}
	}
	if isLearned(i) {
		l.arrived = append(l.arrived, d)
	}
}

func (x *index) unlist(d *doc) {
	if d == nil {
		return
	}
	i, l := &d.item, &x.lists
	delete(l.pinned, d)
	if in := l.working[i.Session]; in != nil {
		if delete(in, d); len(in) == 0 {
			delete(l.working, i.Session)
		}
	}
	if isLearned(i) {
		if at, found := slices.BinarySearchFunc(l.learned, d, byLast); found {
			l.learned = slices.Delete(l.learned, at, at+1)
		}
	}
}

// many is from how many arrivals on sorting all costs less than inserting each.
const many = 64

// sort puts what has arrived where it belongs, mostly the end.
func (l *lists) sort() {
	if len(l.arrived) > many {
		l.learned = append(l.learned, l.arrived...)
		slices.SortFunc(l.learned, byLast)
	} else {
		for _, d := range l.arrived {
			at, _ := slices.BinarySearchFunc(l.learned, d, byLast)
			l.learned = slices.Insert(l.learned, at, d)
		}
	}
	l.arrived = nil
}

// isLearned tells whether short-term memory may have the entry, whoever asks.
func isLearned(i *entry.Item) bool {
	return i.IsLearning() && !i.Forgotten && !i.Reverted && !i.Working && !i.Archived
}

func byLast(a, b *doc) int {
	return cmp.Or(a.item.Last.Compare(b.item.Last), cmp.Compare(a.item.Seq, b.item.Seq))
}

// inOrder are the items of some docs in the order of the state.
func inOrder(docs map[*doc]struct{}) []entry.Item {
	sorted := make([]*doc, 0, len(docs))
	for d := range docs { // any order: they are sorted
		sorted = append(sorted, d)
	}
	slices.SortFunc(sorted, func(a, b *doc) int { return cmp.Compare(a.item.Seq, b.item.Seq) })
	items := make([]entry.Item, len(sorted))
	for n, d := range sorted {
		items[n] = d.item
	}
	return items
}

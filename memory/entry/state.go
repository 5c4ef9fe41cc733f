package entry

import (
	"cmp"
	"errors"
	"slices"
)

// Errors of records that do not fit the state that they are applied to. They are wrapped with the id or the number.
var (
	// ErrNoEntry: a record is about an entry that was never put.
	ErrNoEntry = errors.New("there is no such entry")
	// ErrExists: a record puts an entry whose id is taken, if only by one that was forgotten.
	ErrExists = errors.New("there is an entry of this id already")
	// ErrOrder: a record's number does not follow the one before.
	ErrOrder = errors.New("the records are out of order")
	// ErrRecord: a record that says nothing, or something unknown.
	ErrRecord = errors.New("the record makes no sense")
)

// State is what a list of records amounts to. The zero value is that of no record. It is not safe for concurrent use while
// records are applied; what its methods return is the caller's, but for the slices within an item, which are read only.
type State struct {
	last    uint64
	records []Record
	nodes   map[string]*node
	order   []*node             // by Seq
	lost    map[string]struct{} // named by damage, and not put again since
	since   map[string]*learned // by agent
	changes []change            // by record
}

// change says that a record changed an entry.
type change struct {
	seq  uint64
	node *node
}

// node is an entry with what only the fold needs.
type node struct {
	item    Item
	by      []*node // all that superseded it, in order
	history []int   // positions in records
}

// learned counts an agent's learnings after a record's number.
type learned struct {
	after uint64
	count int
}

// Last is the number of the last record, 0 before the first.
func (s *State) Last() uint64 { return s.last }

// Len is how many entries there are, hidden ones included.
func (s *State) Len() int { return len(s.order) }

// Get finds an entry, hidden or not.
func (s *State) Get(id string) (Item, bool) {
	n := s.nodes[id]
	if n == nil {
		return Item{}, false
	}
	return n.item, true
}

// All returns all entries, hidden ones included, in the order in which they were put.
func (s *State) All() []Item {
	items := make([]Item, 0, len(s.order))
	for _, n := range s.order {
		items = append(items, n.item)
	}
	return items
}

// Each shows what All returns without copying it, until f says no. The items may not be changed, nor kept.
func (s *State) Each(f func(*Item) bool) {
	for _, n := range s.order {
		if !f(&n.item) {
			return
		}
	}
}

// Changed shows the entries that the records after a number changed, as they are now, until f says no: each at least once, in the
// order of the changes. It takes as long as there are changes, whatever the state holds. The items may not be changed, nor kept.
func (s *State) Changed(after uint64, f func(*Item) bool) {
	first, _ := slices.BinarySearchFunc(s.changes, after+1, func(c change, seq uint64) int { return cmp.Compare(c.seq, seq) })
	for _, c := range s.changes[first:] {
		if n := c.node; s.nodes[n.item.ID] == n && !f(&n.item) { // else the entry was put again since, and that is shown
			return
		}
	}
}

// Records shows all records, in order, until f says no. They may not be changed, nor kept.
func (s *State) Records(f func(*Record) bool) {
	for i := range s.records {
		if !f(&s.records[i]) {
			return
		}
	}
}

// History returns the records that name an entry, in order. The texts of a forgotten one are gone from them.
func (s *State) History(id string) []Record {
	n := s.nodes[id]
	if n == nil {
		return nil
	}
	list := make([]Record, 0, len(n.history))
	for _, at := range n.history {
		list = append(list, s.records[at])
	}
	return list
}

// Loss is what damage took: the records From to its own number.
type Loss struct {
	From uint64
	Record
}

// Damage returns the losses, in order.
func (s *State) Damage() (list []Loss) {
	var before uint64
	for _, r := range s.records {
		if r.Op == Lost {
			list = append(list, Loss{before + 1, r})
		}
		before = r.Seq
	}
	return list
}

// IsLost tells whether damage took an entry of this id, and nobody has put it again.
func (s *State) IsLost(id string) bool {
	_, lost := s.lost[id]
	return lost
}

// Since is how many learnings (success, failure, insight) were put for an agent since its last consolidation, those that
// were reverted, and those in the scope of a run, not counted.
func (s *State) Since(agent string) int {
	if l := s.since[agent]; l != nil {
		return l.count
	}
	return 0
}

// Visible tells whether a search that asks for nothing special may find the entry: it is neither forgotten nor reverted nor
// superseded, nor part of working memory that is not over yet.
func (i *Item) Visible() bool {
	return !i.Forgotten && !i.Reverted && i.SupersededBy == "" && (!i.Working || i.Archived)
}

// IsLearning tells whether a task left the entry behind, by its type.
func (e *Entry) IsLearning() bool { return slices.Contains([]Type{Success, Failure, Insight}, e.Type) }

// Kind is the type of an entry; one without is a note.
func (e *Entry) Kind() Type { return cmp.Or(e.Type, Note) }

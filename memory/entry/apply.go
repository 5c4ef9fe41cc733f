package entry

import (
	"fmt"
	"slices"
)

// Apply folds a record in, or leaves the state as it was and says why. Records come in the order of their numbers, without
// gaps; a record of a loss alone may leave numbers out, and stands for all of them. The state keeps what the record points to.
func (s *State) Apply(r Record) error {
	if err := s.Check(r); err != nil {
		return err
	}
	if r.Seq != s.last+1 && (r.Op != Lost || r.Seq <= s.last) {
		return fmt.Errorf("%w: %d comes after %d", ErrOrder, r.Seq, s.last)
	}
	s.last = r.Seq
	s.records = append(s.records, r)
	switch r.Op {
	case Put:
		s.put(&r)
	case Consolidate:
		*s.learned(r.Other) = learned{after: r.Seq}
	case Lost:
		s.lose(r.IDs)
	}
	for _, id := range r.IDs {
		if n := s.nodes[id]; n != nil { // else damage took it
			s.change(n, &r)
			s.changed(n)
		}
	}
	s.note(&r)
	return nil
}

func (s *State) put(r *Record) {
	e := *r.Entry
	old := s.nodes[e.ID]
	n := &node{item: Item{Entry: e, Seq: r.Seq, Count: 1, Last: e.CreatedAt}}
	if s.nodes == nil {
		s.nodes = map[string]*node{}
	}
	if old != nil { // reverted: as if it had never been there, but its history stays
		n.history = old.history
		s.order = slices.DeleteFunc(s.order, func(n *node) bool { return n == old })
	}
	delete(s.lost, e.ID)
	s.nodes[e.ID] = n
	s.order = append(s.order, n)
	s.tally(&n.item, 1)
	s.changed(n)
}

// changed notes that the last record changed an entry. Whoever changes an item calls it.
func (s *State) changed(n *node) {
	s.changes = append(s.changes, change{s.last, n})
}

// tally counts a learning, or takes it out of the count: if it is newer than its agent's last consolidation, and not in the
// scope of a run, where nothing is consolidated.
func (s *State) tally(i *Item, by int) {
	if !i.IsLearning() || i.Reverted || i.Scope.IsRun() {
		return
	}
	if l := s.learned(i.Agent); i.Seq > l.after {
		l.count += by
	}
}

// change does to one entry what a record says.
func (s *State) change(n *node, r *Record) {
	i := &n.item
	switch r.Op {
	case Supersede:
		if by := s.nodes[r.Other]; by != nil { // else damage took it, and nothing stands for the old one
			n.by = append(n.by, by)
			n.settle()
		}
	case Forget:
		s.forget(n)
	case Revert:
		s.revert(n)
	case Pin, Unpin:
		i.Pinned = r.Op == Pin
	case Promote:
		s.tally(i, -1)
		i.Scope = r.Scope
		s.tally(i, 1)
	case Repeat:
		i.Count++
		i.Last = r.At
	case Uncount:
		s.recount(n, r.Other)
	case Use:
		i.Uses++
	case Archive:
		i.Archived = true
	case Reword:
		s.reword(n, r.Other)
	case Link:
		if other := s.nodes[r.Other]; other != nil && !other.item.Reverted && !i.Reverted {
			i.Repeats = with(i.Repeats, r.Other)
			other.item.Repeats = with(other.item.Repeats, i.ID)
			s.changed(other)
		}
	}
}

func (s *State) lose(ids []string) {
	for _, id := range ids {
		if s.nodes[id] == nil {
			if s.lost == nil {
				s.lost = map[string]struct{}{}
			}
			s.lost[id] = struct{}{}
		}
	}
}

// note adds the record, which is the last one, to the history of each entry that it names.
func (s *State) note(r *Record) {
	at := len(s.records) - 1
	add := func(id string) {
		if n := s.nodes[id]; n != nil && (len(n.history) == 0 || n.history[len(n.history)-1] != at) {
			n.history = append(n.history, at)
		}
	}
	if r.Op == Put {
		add(r.Entry.ID)
	}
	for _, id := range r.IDs {
		add(id)
	}
	if r.Op == Supersede || r.Op == Link {
		add(r.Other)
	}
}

func (s *State) learned(agent string) *learned {
	l := s.since[agent]
	if l == nil {
		if s.since == nil {
			s.since = map[string]*learned{}
		}
		l = &learned{}
		s.since[agent] = l
	}
	return l
}

// with and without return a sorted list with an id more or less, and leave the old list alone: others may look at it.
func with(ids []string, id string) []string {
	at, found := slices.BinarySearch(ids, id)
	if found {
		return ids
	}
	return slices.Insert(slices.Clip(ids), at, id)
}

func without(ids []string, id string) []string {
	at, found := slices.BinarySearch(ids, id)
	if !found {
		return ids
	}
	return append(slices.Clip(ids[:at]), ids[at+1:]...)
}

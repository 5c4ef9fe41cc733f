package entry

import (
	"slices"
	"strconv"
)

// recount counts an entry's repeats since it was put, without those that were taken back and the one taken back now.
func (s *State) recount(n *node, back string) {
	gone := map[string]bool{back: true}
	for _, at := range n.history {
		if r := &s.records[at]; r.Op == Uncount {
			gone[r.Other] = true
		}
	}
	n.item.Count, n.item.Last = 1, n.item.CreatedAt
	for _, at := range n.history {
		if r := &s.records[at]; r.Op == Repeat && r.Seq > n.item.Seq && !gone[strconv.FormatUint(r.Seq, 10)] {
			n.item.Count++
			n.item.Last = r.At
		}
	}
}

// settle says which entry stands for another: the last one that superseded it and was not reverted.
func (n *node) settle() {
	n.item.SupersededBy = ""
	for _, by := range slices.Backward(n.by) {
		if !by.item.Reverted {
			n.item.SupersededBy = by.item.ID
			return
		}
	}
}

// reword gives an entry another text, which somebody thought about, or the one back that it was put with.
func (s *State) reword(n *node, text string) {
	if n.item.Forgotten {
		return
	}
	n.item.Text, n.item.Auto = text, false
	if text != "" {
		return
	}
	for _, at := range n.history {
		if r := &s.records[at]; r.Op == Put && r.Entry.ID == n.item.ID {
			n.item.Text, n.item.Auto = r.Entry.Text, r.Entry.Auto
		}
	}
}

func (s *State) forget(n *node) {
	e := &n.item.Entry
	*e = Entry{ID: e.ID, Scope: e.Scope, Agent: e.Agent, Type: e.Type, Session: e.Session, CreatedAt: e.CreatedAt, Working: e.Working, By: e.By}
	n.item.Forgotten, n.item.Pinned = true, false
	for _, at := range n.history {
		if r := &s.records[at]; r.Op == Put && r.Entry.ID == e.ID {
			bare := *e
			bare.Scope = r.Entry.Scope
			r.Entry = &bare
		} else if r.Op == Reword {
			r.Other, r.Reason = "", ""
		}
	}
}

func (s *State) revert(n *node) {
	if n.item.Reverted {
		return
	}
	s.tally(&n.item, -1)
	n.item.Reverted = true
	for _, id := range n.item.Repeats {
		if near := s.nodes[id]; near != nil {
			near.item.Repeats = without(near.item.Repeats, n.item.ID)
			s.changed(near)
		}
	}
	n.item.Repeats = nil
	for _, at := range n.history { // what it superseded, the record tells
		if r := &s.records[at]; r.Op == Supersede && r.Other == n.item.ID {
			for _, id := range r.IDs {
				if old := s.nodes[id]; old != nil {
					old.settle()
					s.changed(old)
				}
			}
		}
	}
}

package entry

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxID is how long an id may be, in bytes.
const MaxID = 256

// Check tells whether records could be applied one after the other, their numbers aside, and changes nothing.
func (s *State) Check(records ...Record) error {
	var fresh map[string]bool // put by the records before
	known := func(id string) bool { return s.nodes[id] != nil || s.IsLost(id) || fresh[id] }
	for _, r := range records {
		switch {
		case r.Op == Put:
			if err := s.checkPut(&r, fresh); err != nil {
				return err
			}
			if len(records) > 1 {
				if fresh == nil {
					fresh = map[string]bool{}
				}
				fresh[r.Entry.ID] = true
			}
		case r.Op == Lost:
		case !slices.Contains(aboutEntries, r.Op):
			if r.Op != Consolidate {
				return fmt.Errorf("%w: %q is nothing that a record does", ErrRecord, r.Op)
			}
		case len(r.IDs) == 0:
			return fmt.Errorf("%w: %s of no entry", ErrRecord, r.Op)
		default:
			if err := checkAbout(&r, known); err != nil {
				return err
			}
		}
	}
	return nil
}

// aboutEntries are the ops that change the entries of their IDs.
var aboutEntries = []Op{Supersede, Forget, Revert, Pin, Unpin, Promote, Repeat, Uncount, Link, Use, Archive, Reword}

func (s *State) checkPut(r *Record, fresh map[string]bool) error {
	if r.Entry == nil {
		return fmt.Errorf("%w: put of no entry", ErrRecord)
	}
	if len(r.IDs) > 0 {
		return fmt.Errorf("%w: put names entries beside its own", ErrRecord)
	}
	id := r.Entry.ID
	if err := checkID(id); err != nil {
		return err
	}
	if n := s.nodes[id]; fresh[id] || n != nil && (!n.item.Reverted || n.item.Forgotten) {
		return fmt.Errorf("%w: %s", ErrExists, id)
	}
	return nil
}

func checkAbout(r *Record, known func(string) bool) error {
	for _, id := range r.IDs {
		if !known(id) {
			return fmt.Errorf("%w: %s", ErrNoEntry, id)
		}
	}
	if r.Op == Reword && len(r.IDs) > 1 {
		return fmt.Errorf("%w: one text for %d entries", ErrRecord, len(r.IDs))
	}
	if r.Op != Supersede && r.Op != Link {
		return nil
	}
	if !known(r.Other) {
		return fmt.Errorf("%w: %s", ErrNoEntry, r.Other)
	}
	if slices.Contains(r.IDs, r.Other) {
		return fmt.Errorf("%w: %s of an entry by itself: %s", ErrRecord, r.Op, r.Other)
	}
	return nil
}

// checkID tells what is wrong with an entry's id: it has 1 to MaxID bytes of UTF-8, without control characters.
func checkID(id string) error {
	switch {
	case id == "":
		return fmt.Errorf("%w: an entry without an id", ErrRecord)
	case len(id) > MaxID:
		return fmt.Errorf("%w: an id of %d bytes, %d are allowed", ErrRecord, len(id), MaxID)
	case !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl):
		return fmt.Errorf("%w: the id %q has characters that cannot be typed", ErrRecord, id)
	}
	return nil
}

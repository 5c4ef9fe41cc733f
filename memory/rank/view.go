package rank

import "time"

// View is what one viewer sees of a corpus. The zero value sees nothing yet. A view is only ever made longer, by the texts that came since: it
// is wrong once a text was removed that it saw, or once the viewer sees other texts of those that it was asked about. Arrays are by slot;
// none stands for "no such slot".
type View struct {
	seen []bool
	// before and after are the neighbours in the session among the seen texts; nil where there are no sessions.
	before, after []int32
	last          []int32 // by session: the last seen text
	// all counts the seen texts; chained those of them that have one before them in their session. The sums of their lengths
	// in terms are beside them, where a chained text is as long as itself and the one before it.
	all, chained             int
	allLength, chainedLength int
	newest                   time.Time
}

const none = -1

// Extend takes in the texts that came since v was last extended; seen says which of them the viewer sees, nil is all. Nobody may be
// searching with v meanwhile.
func (v *View) Extend(c *Corpus, seen func(slot int) bool) {
	first := len(v.seen)
	v.seen = lengthen(v.seen, len(c.docs), false)
	if len(c.sessions) > 0 {
		v.before, v.after = lengthen(v.before, len(c.docs), none), lengthen(v.after, len(c.docs), none)
		v.last = lengthen(v.last, len(c.sessions)+1, none)
	}
	for slot := first; slot < len(c.docs); slot++ {
		d := &c.docs[slot]
		if d.gone || seen != nil && !seen(slot) {
			continue
		}
		v.seen[slot] = true
		v.all++
		v.allLength += int(d.length)
		if d.at.After(v.newest) {
			v.newest = d.at
		}
		if d.session == 0 {
			continue
		}
		if before := v.last[d.session]; before != none {
			v.before[slot], v.after[before] = before, int32(slot)
			v.chained++
			v.chainedLength += int(d.length + c.docs[before].length)
		}
		v.last[d.session] = int32(slot)
	}
}

func lengthen[T any](list []T, n int, with T) []T {
	for len(list) < n {
		list = append(list, with)
	}
	return list
}

// neighbours are the texts before and after one in its session, or none.
func (v *View) neighbours(slot int32) (before, after int32) {
	if v.before == nil {
		return none, none
	}
	return v.before[slot], v.after[slot]
}

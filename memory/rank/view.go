package rank

import "time"

// view is what one viewer sees of a corpus. Arrays are by slot; none stands for "no such slot".
type view struct {
	seen []bool
	// before and after are the neighbours in the session among the seen texts.
	before, after []int32
	// all counts the seen texts; chained those of them that have one before them in their session. The sums of their lengths
	// in terms are beside them, where a chained text is as long as itself and the one before it.
	all, chained             int
	allLength, chainedLength int
	newest                   time.Time
}

const none = -1

func (c *Corpus) view(seen func(slot int) bool) *view {
	n := len(c.docs)
	v := &view{seen: make([]bool, n), before: make([]int32, n), after: make([]int32, n)}
	last := make([]int32, len(c.sessions)+1)
	for i := range last {
		last[i] = none
	}
	for slot := range c.docs {
		d := &c.docs[slot]
		v.before[slot], v.after[slot] = none, none
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
		if before := last[d.session]; before != none {
			v.before[slot], v.after[before] = before, int32(slot)
			v.chained++
			v.chainedLength += int(d.length + c.docs[before].length)
		}
		last[d.session] = int32(slot)
	}
	return v
}

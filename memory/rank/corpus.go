// Package rank orders texts by how well they answer a query: by shared words, by the cosines of vectors that it is given, by
// what their neighbours in a session score, and a little by age, importance and use. It keeps the words of all texts; it knows
// no vectors, no entries, no disk and no clock.
//
// Enter at [Corpus.Rank]; formula.go has the formula and every weight in it. What always holds:
//
//   - What a viewer does not see is as if it were not there. Which texts are seen is asked first, and the counts of words, the
//     average length, the record before and the neighbours in a session, and the newest date are all those of the seen texts
//     alone. So nobody can tell from a score what somebody else has stored.
//   - A filter ([Query.Wanted]) only takes lines out of the answer; it changes no score.
//   - Equal texts, added in equal order, and equal queries give equal answers to the last bit; equal scores are ordered by id.
//   - Without vectors, the cost of a search grows with the texts that share a term with the query; with vectors, with all texts. A view of the
//     corpus is extended by the texts that are new. The cost of adding a text grows with its length.
//
// A Corpus is safe for many readers or one writer, as a map is.
package rank

import (
	"time"

	"github.com/flowrun/flowrun/memory/text"
)

// Doc is a text to be found.
type Doc struct {
	ID   string
	Text string
	// Session joins texts that stand in the order in which they are added; "" is none.
	Session string
	At      time.Time
}

// Corpus is the words of texts. The zero value is empty.
type Corpus struct {
	docs     []doc
	slots    map[string]int
	sessions map[string]int32
	terms    map[string][]posting
}

type doc struct {
	id      string
	length  int32 // in terms
	session int32 // 0: none
	gone    bool
	at      time.Time
}

// posting says how often a term stands in a text. The postings of a term rise by slot.
type posting struct{ slot, count int32 }

// Add takes a text in and returns its slot: 0 for the first text, then 1, and so on. An id that is there already keeps the
// text and the slot that it has; one that was removed gets a new slot.
func (c *Corpus) Add(d Doc) (slot int) {
	if slot, ok := c.slots[d.ID]; ok {
		return slot
	}
	if c.slots == nil {
		c.slots, c.sessions, c.terms = map[string]int{}, map[string]int32{}, map[string][]posting{}
	}
	slot = len(c.docs)
	c.slots[d.ID] = slot
	terms := text.Terms(d.Text)
	for _, t := range terms {
		list := c.terms[t]
		if n := len(list); n > 0 && list[n-1].slot == int32(slot) {
			list[n-1].count++
			continue
		}
		c.terms[t] = append(list, posting{int32(slot), 1})
	}
	c.docs = append(c.docs, doc{id: d.ID, length: int32(len(terms)), session: c.session(d.Session), at: d.At})
	return slot
}

// session numbers the sessions from 1.
func (c *Corpus) session(name string) int32 {
	if name == "" {
		return 0
	}
	n, ok := c.sessions[name]
	if !ok {
		n = int32(len(c.sessions) + 1)
		c.sessions[name] = n
	}
	return n
}

// Remove makes the text of an id one that nobody sees, ever again. Its slot is not given to another. An id that is not there
// is not an error.
func (c *Corpus) Remove(id string) {
	if slot, ok := c.slots[id]; ok {
		c.docs[slot].gone = true
		delete(c.slots, id)
	}
}

package rank

import (
	"cmp"
	"slices"
)

// Query asks for the texts that answer Text. Functions and slices are by slot.
type Query struct {
	Text string
	// Seen says what the viewer sees; nil is everything. What is not seen does not exist for this search.
	Seen func(slot int) bool
	// Wanted says which of the seen texts may be answers; nil is all of them.
	Wanted func(slot int) bool
	// Meaning and WordVectors are, for two embedders, the means of two cosines with the query: that of the whole text, and
	// that of its best sentence. A slot beyond their ends, or a number that is not above 0, says nothing.
	Meaning, WordVectors []float64
	// Facts may be nil. It is asked only for texts that have any evidence.
	Facts func(slot int) Facts
	// K is how many answers are wanted at most; 0 is all.
	K int
}

// Hit is an answer.
type Hit struct {
	Slot  int
	ID    string
	Score float64
	Parts Parts
}

// Rank answers a query, best first. A text without any evidence, of its own or of a neighbour, is not an answer.
func (c *Corpus) Rank(q Query) []Hit {
	s := c.search(q)
	type scored struct {
		slot  int
		score float64
	}
	var found []scored
	for slot := range c.docs {
		if !s.v.seen[slot] || q.Wanted != nil && !q.Wanted(slot) || s.evidence[slot]+s.near(slot) <= 0 {
			continue
		}
		found = append(found, scored{slot, s.parts(slot).Score()})
	}
	slices.SortFunc(found, func(x, y scored) int {
		if n := cmp.Compare(y.score, x.score); n != 0 {
			return n
		}
		return cmp.Compare(c.docs[x.slot].id, c.docs[y.slot].id)
	})
	if q.K > 0 {
		found = found[:min(q.K, len(found))]
	}
	hits := make([]Hit, len(found))
	for i, f := range found {
		hits[i] = Hit{Slot: f.slot, ID: c.docs[f.slot].id, Score: f.score, Parts: s.parts(f.slot)}
	}
	return hits
}

// search is one query at work. Slices are by slot.
type search struct {
	c             *Corpus
	q             Query
	v             *view
	own, previous []float64
	evidence      []float64
}

func (c *Corpus) search(q Query) *search {
	s := &search{c: c, q: q, v: c.view(q.Seen), evidence: make([]float64, len(c.docs))}
	s.own, s.previous = c.words(q.Text, s.v)
	for slot := range s.evidence {
		if s.v.seen[slot] {
			s.evidence[slot] = s.itself(slot).Evidence()
		}
	}
	return s
}

// itself are the parts that a text has earned alone.
func (s *search) itself(slot int) Parts {
	return Parts{
		Words:       s.own[slot],
		Previous:    float64(previousWeight * s.previous[slot]),
		Meaning:     float64(meaningWeight * positive(s.q.Meaning, slot)),
		WordVectors: float64(wordVectorsWeight * positive(s.q.WordVectors, slot)),
	}
}

// near is the greater evidence of the two neighbours.
func (s *search) near(slot int) (most float64) {
	for _, n := range []int32{s.v.before[slot], s.v.after[slot]} {
		if n != none {
			most = max(most, s.evidence[n])
		}
	}
	return most
}

// parts are all parts of a score.
func (s *search) parts(slot int) Parts {
	p := s.itself(slot)
	p.Neighbours = float64(neighbourWeight * s.near(slot))
	var f Facts
	if s.q.Facts != nil {
		f = s.q.Facts(slot)
	}
	p.addFacts(f, s.v.newest.Sub(s.c.docs[slot].at))
	return p
}

// positive is the score of a slot where it says something, else 0. Not a number says nothing either.
func positive(scores []float64, slot int) float64 {
	if slot < len(scores) && scores[slot] > 0 {
		return scores[slot]
	}
	return 0
}

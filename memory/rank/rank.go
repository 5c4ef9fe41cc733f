package rank

// Query asks for the texts that answer Text. Functions and slices are by slot.
type Query struct {
	Text string
	// Seen says what the viewer sees; nil is everything. What is not seen does not exist for this search.
	Seen func(slot int) bool
	// View is what Seen says of all texts, so that it need not be asked for each search; nil: it is asked.
	View *View
	// Scratch is used again from search to search; nil: it is made.
	Scratch *Scratch
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
	defer func() { s.setBack(s.found) }()
	best := best{corpus: c, most: q.K}
	for _, n := range s.found {
		slot := int(n)
		near := s.near(slot)
		if s.evidence[slot]+near <= 0 || best.excludes(s.evidence[slot]+float64(neighbourWeight*near)+mostOfFacts) || q.Wanted != nil && !q.Wanted(slot) {
			continue
		}
		p := s.timeless(slot)
		if best.excludes(p.Score() + mostOfRecency) {
			continue
		}
		p.Recency = s.recency(slot)
		best.offer(scored{slot, p.Score()})
	}
	found := best.sorted()
	hits := make([]Hit, len(found))
	for i, f := range found {
		hits[i] = Hit{Slot: f.slot, ID: c.docs[f.slot].id, Score: f.score, Parts: s.parts(f.slot)}
	}
	return hits
}

// search is one query at work. Slices are by slot.
type search struct {
	*Scratch
	c     *Corpus
	q     Query
	v     *View
	found []int32 // the texts that can be answers, in no order
}

func (c *Corpus) search(q Query) *search {
	s := &search{Scratch: q.Scratch, c: c, q: q, v: q.View}
	if s.Scratch == nil {
		s.Scratch = &Scratch{}
	}
	if s.v == nil {
		s.v = &View{}
		s.v.Extend(c, q.Seen)
	}
	s.reach(len(c.docs))
	s.found = c.words(q.Text, s.v, s.Scratch)
	if len(q.Meaning)+len(q.WordVectors) > 0 {
		s.found = s.found[:0]
		for slot, seen := range s.v.seen {
			if seen {
				s.found = append(s.found, int32(slot))
			}
		}
	}
	for _, slot := range s.found {
		s.evidence[slot] = s.itself(int(slot)).Evidence()
	}
	s.addNeighbours()
	return s
}

// addNeighbours adds what stands beside the texts that have evidence: it has a share of that.
func (s *search) addNeighbours() {
	if s.v.before == nil || len(s.found) == s.v.all {
		return
	}
	for _, slot := range s.found {
		s.have[slot] = true
	}
	for _, slot := range s.found {
		before, after := s.v.neighbours(slot)
		for _, n := range [...]int32{before, after} {
			if n != none && !s.have[n] {
				s.have[n] = true
				s.found = append(s.found, n)
			}
		}
	}
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
	before, after := s.v.neighbours(int32(slot))
	for _, n := range [...]int32{before, after} {
		if n != none {
			most = max(most, s.evidence[n])
		}
	}
	return most
}

// parts are all parts of a score. The recency takes most of the time, and few texts are so near to the best that it decides.
func (s *search) parts(slot int) Parts {
	p := s.timeless(slot)
	p.Recency = s.recency(slot)
	return p
}

// timeless are all parts but the recency.
func (s *search) timeless(slot int) Parts {
	p := s.itself(slot)
	p.Neighbours = float64(neighbourWeight * s.near(slot))
	if s.q.Facts != nil {
		p.addFacts(s.q.Facts(slot))
	}
	return p
}

func (s *search) recency(slot int) float64 { return recency(s.v.newest.Sub(s.c.docs[slot].at)) }

// positive is the score of a slot where it says something, else 0. Not a number says nothing either.
func positive(scores []float64, slot int) float64 {
	if slot < len(scores) && scores[slot] > 0 {
		return scores[slot]
	}
	return 0
}

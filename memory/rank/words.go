package rank

import (
	"github.com/flowrun/flowrun/dsl/libm"
	"github.com/flowrun/flowrun/memory/text"
)

// The two numbers of BM25: how soon more of the same word stops to count, and how much long texts are held back. They are
// the usual ones (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009).
const (
	k1 = 1.2
	b  = 0.75
)

// words gives the seen texts that have a term of the query their BM25 scores, once by their own words, and once by their own and
// those of the text before them in their session; the latter only for texts that have one. found are their slots, in no order. Both are
// shares of the most that the query could reach: all its terms, each as often as can count. A query of which only common words match has
// small scores this way, and what the vectors say then weighs more.
func (c *Corpus) words(query string, v *View, s *Scratch) (found []int32) {
	own, previous := s.own, s.previous
	counts := s.counts // of one term, in a text and the one before it
	have := s.have     // which slots are in found
	find := func(slot int32) {
		if !have[slot] {
			have[slot] = true
			found = append(found, slot)
		}
	}
	var touched []int32
	var mostOwn, mostPrevious float64
	ownLength := float64(v.allLength) / max(1, float64(v.all))
	previousLength := float64(v.chainedLength) / max(1, float64(v.chained))
	for _, asked := range distinct(text.Terms(query)) {
		touched = touched[:0]
		touch := func(slot, n int32) {
			if counts[slot] == 0 {
				touched = append(touched, slot)
			}
			counts[slot] += n
		}
		seen := 0
		for _, p := range c.terms[asked.term] {
			if !v.seen[p.slot] {
				continue
			}
			seen++
			before, after := v.neighbours(p.slot)
			if before != none {
				touch(p.slot, p.count)
			}
			if after != none {
				touch(after, p.count)
			}
		}
		weight := float64(asked.times * rarity(v.all, seen))
		mostOwn += float64(weight * (k1 + 1))
		for _, p := range c.terms[asked.term] {
			if v.seen[p.slot] {
				find(p.slot)
				own[p.slot] += float64(weight * saturated(p.count, float64(c.docs[p.slot].length)/ownLength))
			}
		}
		weight = float64(asked.times * rarity(v.chained, len(touched)))
		mostPrevious += float64(weight * (k1 + 1))
		for _, slot := range touched {
			find(slot)
			length := c.docs[slot].length + c.docs[v.before[slot]].length
			previous[slot] += float64(weight * saturated(counts[slot], float64(length)/previousLength))
			counts[slot] = 0
		}
	}
	for _, slot := range found {
		own[slot] = share(own[slot], mostOwn)
		previous[slot] = share(previous[slot], mostPrevious)
	}
	return found
}

// MaxTerms is how many different terms of a query are looked for, the first ones: a task that is recalled for may be a long
// text, and each term costs a pass over the texts that have it.
const MaxTerms = 512

// asked is a term of a query, and how often it stands there.
type asked struct {
	term  string
	times float64
}

// distinct are the terms in the order in which they first come.
func distinct(terms []string) []asked {
	at := make(map[string]int, min(len(terms), MaxTerms))
	var out []asked
	for _, t := range terms {
		i, ok := at[t]
		switch {
		case ok:
			out[i].times++
		case len(out) < MaxTerms:
			at[t] = len(out)
			out = append(out, asked{t, 1})
		}
	}
	return out
}

// rarity is the weight of a term that stands in found of all texts. It is above 0 even for a term of every text.
func rarity(all, found int) float64 {
	return libm.Log(1 + (float64(all-found)+0.5)/(float64(found)+0.5))
}

// saturated is what a term counts that stands count times in a text; length is relative to the average.
func saturated(count int32, length float64) float64 {
	f := float64(count)
	return f * (k1 + 1) / (f + float64(k1*(1-b+float64(b*length))))
}

func share(score, most float64) float64 {
	if most == 0 {
		return score
	}
	return score / most
}

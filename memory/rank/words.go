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

// words gives every seen text its BM25 score for the query, once by its own words, and once by its own and those of the text
// before it in its session; the latter only for texts that have one. Both are shares of the most that the query could reach:
// all its terms, each as often as can count. A query of which only common words match has small scores this way, and what the
// vectors say then weighs more.
func (c *Corpus) words(query string, v *view) (own, previous []float64) {
	own, previous = make([]float64, len(c.docs)), make([]float64, len(c.docs))
	counts := make([]int32, len(c.docs)) // of one term, in a text and the one before it
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
		found := 0
		for _, p := range c.terms[asked.term] {
			if !v.seen[p.slot] {
				continue
			}
			found++
			if v.before[p.slot] != none {
				touch(p.slot, p.count)
			}
			if after := v.after[p.slot]; after != none {
				touch(after, p.count)
			}
		}
		weight := float64(asked.times * rarity(v.all, found))
		mostOwn += float64(weight * (k1 + 1))
		for _, p := range c.terms[asked.term] {
			if v.seen[p.slot] {
				own[p.slot] += float64(weight * saturated(p.count, float64(c.docs[p.slot].length)/ownLength))
			}
		}
		weight = float64(asked.times * rarity(v.chained, len(touched)))
		mostPrevious += float64(weight * (k1 + 1))
		for _, slot := range touched {
			length := c.docs[slot].length + c.docs[v.before[slot]].length
			previous[slot] += float64(weight * saturated(counts[slot], float64(length)/previousLength))
			counts[slot] = 0
		}
	}
	divide(own, mostOwn)
	divide(previous, mostPrevious)
	return own, previous
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

func divide(scores []float64, most float64) {
	if most == 0 {
		return
	}
	for i := range scores {
		scores[i] /= most
	}
}

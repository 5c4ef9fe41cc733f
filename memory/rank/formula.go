package rank

import (
	"time"

	"github.com/flowrun/flowrun/dsl/libm"
)

// The weights of the formula:
//
//	evidence = words + 0.3 previous + 0.6 meaning + 0.4 word vectors
//	score    = evidence + 0.35 the greater evidence of the two neighbours in the session
//	         + 0.02 recency + 0.05 importance + 0.03 use - 0.3 if superseded
//
// where each of the first line lies in 0 to 1 and what is below 0 counts as 0. The lists are added as they are, not by their
// places (reciprocal rank fusion found less: of ten results on public conversations 58 against 63 of a hundred answers).
// The weights were found once, on half of a public set of conversations and on reworded learnings, and held on the other
// half. Changes of less than a point there mean nothing, so the weights are not to be tuned on small sets. Recency, importance
// and use only part near ties: with the weight of evidence they ruin recall (from 71 to 25 of a hundred).
const (
	previousWeight    = 0.3
	meaningWeight     = 0.6
	wordVectorsWeight = 0.4
	neighbourWeight   = 0.35
	recencyWeight     = 0.02
	importanceWeight  = 0.05
	usesWeight        = 0.03
	supersededWeight  = -0.3
)

// mostOfRecency is the most that the age of a text adds to its score, and mostOfFacts that of all that does not depend on the query; both
// a little more, so that no rounding counts.
const (
	mostOfRecency = recencyWeight + 1e-9
	mostOfFacts   = mostOfRecency + importanceWeight + usesWeight
)

// HalfLife is the age, counted from the newest text seen, at which recency counts half.
const HalfLife = 30 * 24 * time.Hour

// manyUses is the number of uses from which more count no more: 2^5-1.
const manyUses = 31

// ofUses is what a number of uses adds to a score.
var ofUses = func() (parts [manyUses + 1]float64) {
	for n := range parts {
		parts[n] = usesWeight * libm.Log2(1+float64(n)) / libm.Log2(1+manyUses)
	}
	return parts
}()

// Facts are what is known of a text beside its words. They may change from search to search.
type Facts struct {
	Importance float64 // 0 to 1
	Uses       int
	Superseded bool
}

// Parts are what a score is made of, each with its weight, so that they add up to it.
type Parts struct {
	Words       float64 `json:"words,omitempty"`
	Previous    float64 `json:"previous,omitempty"`
	Meaning     float64 `json:"meaning,omitempty"`
	WordVectors float64 `json:"word_vectors,omitempty"`
	Neighbours  float64 `json:"neighbours,omitempty"`
	Recency     float64 `json:"recency,omitempty"`
	Importance  float64 `json:"importance,omitempty"`
	Uses        float64 `json:"uses,omitempty"`
	Superseded  float64 `json:"superseded,omitempty"`
}

// Evidence is the share of the score that the text itself has earned, by its words and by its vectors.
func (p Parts) Evidence() float64 { return p.Words + p.Previous + p.Meaning + p.WordVectors }

// Score is the sum of the parts.
func (p Parts) Score() float64 {
	return p.Evidence() + p.Neighbours + p.Recency + p.Importance + p.Uses + p.Superseded
}

// addFacts fills the parts that depend neither on the query nor on the time.
func (p *Parts) addFacts(f Facts) {
	p.Importance = float64(importanceWeight * min(1, max(0, f.Importance)))
	p.Uses = ofUses[min(manyUses, max(0, f.Uses))]
	if f.Superseded {
		p.Superseded = supersededWeight
	}
}

func recency(age time.Duration) float64 {
	return float64(recencyWeight * libm.Exp2(-float64(age)/float64(HalfLife)))
}

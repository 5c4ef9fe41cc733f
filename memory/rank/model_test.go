package rank_test

import (
	"math"
	"slices"
	"time"

	"github.com/flowrun/flowrun/memory/rank"
	"github.com/flowrun/flowrun/memory/text"
)

// stored is a text as the model keeps it: everything about it in one place.
type stored struct {
	rank.Doc
	rank.Facts
	meaning, vectors float64
}

// model ranks as the formula is written: it builds everything anew, from the texts that are seen alone, and scans maps. It
// is the yardstick of the tests, and slow.
func model(all []stored, query string) map[string]rank.Parts {
	previous := map[string]stored{}
	last := map[string]stored{}
	next := map[string]string{}
	own, chained := map[string][]string{}, map[string][]string{}
	var newest time.Time
	for _, d := range all {
		own[d.ID] = text.Terms(d.Text)
		if d.At.After(newest) {
			newest = d.At
		}
		if d.Session == "" {
			continue
		}
		if p, ok := last[d.Session]; ok {
			previous[d.ID], next[p.ID] = p, d.ID
			chained[d.ID] = text.Terms(p.Text + "\n" + d.Text)
		}
		last[d.Session] = d
	}
	words, both := bm25(own, query), bm25(chained, query)
	evidence := map[string]float64{}
	parts := map[string]rank.Parts{}
	for _, d := range all {
		p := rank.Parts{Words: words[d.ID], Previous: .3 * both[d.ID], Meaning: .6 * max(0, d.meaning), WordVectors: .4 * max(0, d.vectors)}
		parts[d.ID], evidence[d.ID] = p, sum(p)
	}
	out := map[string]rank.Parts{}
	for _, d := range all {
		p := parts[d.ID]
		near := 0.0
		if before, ok := previous[d.ID]; ok {
			near = evidence[before.ID]
		}
		if after, ok := next[d.ID]; ok {
			near = max(near, evidence[after])
		}
		if evidence[d.ID]+near <= 0 {
			continue
		}
		p.Neighbours = .35 * near
		p.Recency = .02 * math.Pow(.5, newest.Sub(d.At).Hours()/24/30)
		p.Importance = .05 * d.Importance
		p.Uses = .03 * min(1, math.Log2(1+float64(d.Uses))/5)
		if d.Superseded {
			p.Superseded = -.3
		}
		out[d.ID] = p
	}
	return out
}

func bm25(docs map[string][]string, query string) map[string]float64 {
	found, total := map[string]int{}, 0
	for _, terms := range docs {
		total += len(terms)
		seen := map[string]bool{}
		for _, t := range terms {
			if !seen[t] {
				seen[t] = true
				found[t]++
			}
		}
	}
	average := float64(total) / math.Max(1, float64(len(docs)))
	scores, most := map[string]float64{}, 0.0
	for _, q := range text.Terms(query) {
		idf := math.Log(1 + (float64(len(docs))-float64(found[q])+.5)/(float64(found[q])+.5))
		most += idf * 2.2
		for id, terms := range docs {
			n := 0.0
			for _, t := range terms {
				if t == q {
					n++
				}
			}
			if n > 0 {
				scores[id] += idf * n * 2.2 / (n + 1.2*(1-.75+.75*float64(len(terms))/average))
			}
		}
	}
	for id := range scores {
		scores[id] /= most
	}
	return scores
}

// ask puts the texts into a corpus and asks it. Those of which seen is false are in it, but hidden.
func ask(all []stored, query string, seen func(id string) bool, k int) []rank.Hit {
	var c rank.Corpus
	q := rank.Query{Text: query, K: k}
	for _, d := range all {
		c.Add(d.Doc)
		q.Meaning, q.WordVectors = append(q.Meaning, d.meaning), append(q.WordVectors, d.vectors)
	}
	q.Facts = func(slot int) rank.Facts { return all[slot].Facts }
	if seen != nil {
		q.Seen = func(slot int) bool { return seen(all[slot].ID) }
	}
	return c.Rank(q)
}

func ids(hits []rank.Hit) (out []string) {
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return out
}

func without(all []stored, hidden func(stored) bool) []stored {
	return slices.DeleteFunc(slices.Clone(all), hidden)
}

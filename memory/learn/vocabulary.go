package learn

import (
	"cmp"
	"math"
	"slices"

	"github.com/flowrun/flowrun/dsl/libm"
	"github.com/flowrun/flowrun/memory/entry"
)

const (
	// past is how many learnings with none of its words a pile is taken to have beside its own. A word counts the less the more of
	// them have it; without this nothing that three of three learnings share would count, as then everybody has it.
	past = 80
	// maxNear is how many others a learning is compared with: those that share most of its words.
	maxNear = 64
	// maxHaving is how many of the learnings that have a word, or a tag, are found by it: the newest.
	maxHaving = 256
)

// word is a term by its number, and what it weighs in a text, or in several together.
type word struct {
	term   int32
	weight float64
}

// vocabulary knows which learnings of a pile have which words and tags.
type vocabulary struct {
	words  [][]word // by item: unit vectors, in order of the terms
	having [][]int  // by term: the items that have it
	tagged map[string][]int
	score  []float64 // by item, zero between uses
}

func newVocabulary(items []entry.Item) *vocabulary {
	v := &vocabulary{words: make([][]word, len(items)), tagged: map[string][]int{}, score: make([]float64, len(items))}
	number := map[string]int32{}
	for i := range items {
		for _, t := range subjectOf(&items[i]) {
			n, known := number[t]
			if !known {
				n = int32(len(number))
				number[t], v.having = n, append(v.having, nil)
			}
			v.words[i], v.having[n] = append(v.words[i], word{term: n}), append(v.having[n], i)
		}
		for _, t := range tagsOfSubject(&items[i]) {
			v.tagged[t] = append(v.tagged[t], i)
		}
	}
	for _, words := range v.words {
		v.weigh(words, len(items))
	}
	return v
}

// tagsOfSubject are the tags that may tell what a learning is about. Those that the recorder gives name the step.
func tagsOfSubject(i *entry.Item) []string {
	if i.Auto {
		return nil
	}
	return i.Tags
}

// weigh gives words the weight of how few of so many items have them, as a unit vector.
func (v *vocabulary) weigh(words []word, items int) {
	sum := 0.0
	for k := range words {
		w := libm.Log(float64(items+past) / float64(len(v.having[words[k].term])+1))
		words[k].weight, sum = w, sum+float64(w*w)
	}
	for k := range words {
		words[k].weight /= math.Sqrt(sum)
	}
	slices.SortFunc(words, func(a, b word) int { return cmp.Compare(a.term, b.term) })
}

// sharing are the items that share words with one, those that share most first, and of equals the newest.
func (v *vocabulary) sharing(i int, allowed func(j int) bool) []int {
	score, found := v.score, []int(nil)
	for _, w := range v.words[i] {
		for _, j := range newest(v.having[w.term]) {
			if score[j] == 0 && j != i && allowed(j) {
				found = append(found, j)
			}
			score[j] += float64(w.weight * w.weight)
		}
	}
	var first []int
	for _, j := range found {
		first = put(first, j, func(a, b int) int { return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(b, a)) })
	}
	for _, w := range v.words[i] {
		for _, j := range newest(v.having[w.term]) {
			score[j] = 0
		}
	}
	return first
}

// put takes j into a sorted list of at most maxNear.
func put(list []int, j int, order func(a, b int) int) []int {
	if len(list) == maxNear {
		if order(j, list[maxNear-1]) > 0 {
			return list
		}
		list = list[:maxNear-1]
	}
	at, _ := slices.BinarySearchFunc(list, j, order)
	return slices.Insert(list, at, j)
}

func newest(list []int) []int { return list[max(0, len(list)-maxHaving):] }

// all is the sum of the words of items, added up in their order.
func (v *vocabulary) all(items []int) []word {
	sum := v.words[items[0]]
	for _, i := range items[1:] {
		sum = plus(sum, v.words[i])
	}
	return sum
}

// common is the product of two sums of words.
func common(a, b []word) (sum float64) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i].term < b[j].term:
			i++
		case a[i].term > b[j].term:
			j++
		default:
			sum += float64(a[i].weight * b[j].weight)
			i, j = i+1, j+1
		}
	}
	return sum
}

func plus(a, b []word) []word {
	out := make([]word, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].term < b[0].term:
			out, a = append(out, a[0]), a[1:]
		case a[0].term > b[0].term:
			out, b = append(out, b[0]), b[1:]
		default:
			out = append(out, word{a[0].term, a[0].weight + b[0].weight})
			a, b = a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

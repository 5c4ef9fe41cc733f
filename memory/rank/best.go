package rank

import (
	"cmp"
	"container/heap"
	"slices"
)

// scored is a text and its score.
type scored struct {
	slot  int
	score float64
}

// best keeps the best of what it is offered: a heap with the worst on top.
type best struct {
	corpus *Corpus
	most   int // 0: all
	found  []scored
}

func (b *best) offer(s scored) {
	switch {
	case b.most <= 0:
		b.found = append(b.found, s)
	case len(b.found) < b.most:
		heap.Push(b, s)
	case b.compare(s, b.found[0]) < 0:
		b.found[0] = s
		heap.Fix(b, 0)
	}
}

// excludes reports whether a text of this score, or a lower one, is not among the best.
func (b *best) excludes(score float64) bool {
	return b.most > 0 && len(b.found) == b.most && score < b.found[0].score
}

// sorted are the best, in order.
func (b *best) sorted() []scored {
	slices.SortFunc(b.found, b.compare)
	return b.found
}

// compare puts the better score first, and of equal ones the smaller id.
func (b *best) compare(x, y scored) int {
	if n := cmp.Compare(y.score, x.score); n != 0 {
		return n
	}
	return cmp.Compare(b.corpus.docs[x.slot].id, b.corpus.docs[y.slot].id)
}

func (b *best) Len() int           { return len(b.found) }
func (b *best) Less(i, j int) bool { return b.compare(b.found[i], b.found[j]) > 0 }
func (b *best) Swap(i, j int)      { b.found[i], b.found[j] = b.found[j], b.found[i] }
func (b *best) Push(x any)         { b.found = append(b.found, x.(scored)) }
func (b *best) Pop() any {
	last := b.found[len(b.found)-1]
	b.found = b.found[:len(b.found)-1]
	return last
}

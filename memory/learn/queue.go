package learn

import "cmp"

// pair is two groups that may be joined, the one with the first item before the other, and how many members they had then.
type pair struct {
	mean   float64
	a, b   *group
	first  [2]int
	na, nb int
}

func newPair(mean float64, a, b *group) pair {
	if a.members[0] > b.members[0] {
		a, b = b, a
	}
	return pair{mean, a, b, [2]int{a.members[0], b.members[0]}, len(a.members), len(b.members)}
}

// queue is a heap of pairs: the most alike on top, and of equals the first.
type queue []pair

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	x, y := &q[i], &q[j]
	return cmp.Or(cmp.Compare(y.mean, x.mean), cmp.Compare(x.first[0], y.first[0]), cmp.Compare(x.first[1], y.first[1])) < 0
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(pair)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}

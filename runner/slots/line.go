package slots

import (
	"slices"

	"github.com/flowrun/flowrun/runner/heap"
)

// line holds requests, the first at hand. The zero value is empty.
//
// A request that comes after all others, as nearly every request of a wide for_each does, joins the end of a list. Only the
// others need a heap, which would look at most of a long line for each request that it gives.
type line[T any] struct {
	inOrder []Request[T]
	others  heap.Heap[Request[T]]
}

func (l *line[T]) isEmpty() bool { return len(l.inOrder) == 0 && len(l.others) == 0 }

func (l *line[T]) push(r Request[T]) {
	if n := len(l.inOrder); n == 0 || l.inOrder[n-1].Before(r) {
		if n == cap(l.inOrder) {
			l.inOrder = slices.Grow(l.inOrder, n+1) // as a heap does
		}
		l.inOrder = append(l.inOrder, r)
		return
	}
	l.others.Push(r)
}

// first is the first request. There must be one.
func (l *line[T]) first() Request[T] {
	if l.firstInOrder() {
		return l.inOrder[0]
	}
	return l.others[0]
}

// pop takes the first request away. There must be one.
func (l *line[T]) pop() Request[T] {
	if !l.firstInOrder() {
		return l.others.Pop()
	}
	r := l.inOrder[0]
	l.inOrder[0] = Request[T]{} // T may hold memory
	l.inOrder = l.inOrder[1:]
	return r
}

func (l *line[T]) firstInOrder() bool {
	return len(l.others) == 0 || len(l.inOrder) > 0 && l.inOrder[0].Before(l.others[0])
}

// Package heap is a priority queue: what comes before all others is at hand, and taken away or added in a few steps.
//
// container/heap does the same through an interface of five methods, and boxes each element. Who waits here is asked for by every
// event of a run, so this one has the element's type, and one method to write.
//
// What always holds: the element at 0 comes before every other. Of two of which neither comes before the other, any may be
// first; so an order that must be the same in each replay has to be total. The package is pure and knows nothing of what it orders.
// Enter at [Heap].
package heap

import "slices"

// Heap is a priority queue; the first stands at 0. The zero value is empty. It is not safe for concurrent use.
type Heap[T interface{ Before(T) bool }] []T

// Push adds an element.
func (h *Heap[T]) Push(t T) {
	if len(*h) == cap(*h) {
		*h = slices.Grow(*h, len(*h)+1) // append grows a long one by a quarter, which copies it too often
	}
	*h = append(*h, t)
	list := *h
	for i := len(list) - 1; i > 0; {
		up := (i - 1) / 2
		if !list[i].Before(list[up]) {
			return
		}
		list[up], list[i] = list[i], list[up]
		i = up
	}
}

// Pop takes the first away. There must be one.
func (h *Heap[T]) Pop() T {
	list := *h
	first, last := list[0], len(list)-1
	var none T
	list[0], list[last] = list[last], none
	list = list[:last]
	*h = list
	for i := 0; ; {
		least := i
		for _, down := range [2]int{2*i + 1, 2*i + 2} {
			if down < last && list[down].Before(list[least]) {
				least = down
			}
		}
		if least == i {
			return first
		}
		list[least], list[i] = list[i], list[least]
		i = least
	}
}

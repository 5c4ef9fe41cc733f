package machine

import "slices"

// heap is a priority queue: the first stands at 0.
type heap[T interface{ before(T) bool }] []T

func (h *heap[T]) push(t T) {
	if len(*h) == cap(*h) {
		*h = slices.Grow(*h, len(*h)+1) // append grows a long one by a quarter, which copies it too often
	}
	*h = append(*h, t)
	list := *h
	for i := len(list) - 1; i > 0; {
		up := (i - 1) / 2
		if !list[i].before(list[up]) {
			return
		}
		list[up], list[i] = list[i], list[up]
		i = up
	}
}

func (h *heap[T]) pop() T {
	list := *h
	first, last := list[0], len(list)-1
	var none T
	list[0], list[last] = list[last], none
	list = list[:last]
	*h = list
	for i := 0; ; {
		least := i
		for _, down := range [2]int{2*i + 1, 2*i + 2} {
			if down < last && list[down].before(list[least]) {
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

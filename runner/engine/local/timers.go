package local

import (
	"container/heap"

	"github.com/flowrun/flowrun/runner/event"
)

// timers are those that are set, ordered by (due, number). A cancelled one stays in the heap until its turn comes.
type timers struct {
	heap timerHeap
	set  map[uint64]bool
}

func (t *timers) add(s event.SetTimer) {
	if t.set == nil {
		t.set = map[uint64]bool{}
	}
	t.set[s.Timer] = true
	heap.Push(&t.heap, s)
}

func (t *timers) cancel(n uint64) { delete(t.set, n) }

// next is the earliest timer that is set.
func (t *timers) next() (event.SetTimer, bool) {
	for len(t.heap) > 0 {
		if t.set[t.heap[0].Timer] {
			return t.heap[0], true
		}
		heap.Pop(&t.heap)
	}
	return event.SetTimer{}, false
}

// due takes the earliest timer if its time has come.
func (t *timers) due(now event.Time) (event.SetTimer, bool) {
	s, ok := t.next()
	if !ok || s.Due > now {
		return event.SetTimer{}, false
	}
	heap.Pop(&t.heap)
	delete(t.set, s.Timer)
	return s, true
}

type timerHeap []event.SetTimer

func (h timerHeap) Len() int { return len(h) }
func (h timerHeap) Less(i, j int) bool {
	return h[i].Due < h[j].Due || h[i].Due == h[j].Due && h[i].Timer < h[j].Timer
}
func (h timerHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *timerHeap) Push(x any)   { *h = append(*h, x.(event.SetTimer)) }
func (h *timerHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

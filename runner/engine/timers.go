package engine

import (
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/heap"
)

// timers are those that are set, ordered by (due, number). A cancelled one stays in the heap until its turn comes.
type timers struct {
	heap heap.Heap[timer]
	set  map[uint64]bool
}

func (t *timers) add(s event.SetTimer) {
	if t.set == nil {
		t.set = map[uint64]bool{}
	}
	t.set[s.Timer] = true
	t.heap.Push(timer(s))
}

func (t *timers) cancel(n uint64) { delete(t.set, n) }

// next is the earliest timer that is set.
func (t *timers) next() (event.SetTimer, bool) {
	for len(t.heap) > 0 {
		if t.set[t.heap[0].Timer] {
			return event.SetTimer(t.heap[0]), true
		}
		t.heap.Pop()
	}
	return event.SetTimer{}, false
}

// due takes the earliest timer if its time has come.
func (t *timers) due(now event.Time) (event.SetTimer, bool) {
	s, ok := t.next()
	if !ok || s.Due > now {
		return event.SetTimer{}, false
	}
	t.heap.Pop()
	delete(t.set, s.Timer)
	return s, true
}

// timer is one that is set, or was.
type timer event.SetTimer

// Before implements heap.Heap.
func (t timer) Before(other timer) bool {
	return t.Due < other.Due || t.Due == other.Due && t.Timer < other.Timer
}

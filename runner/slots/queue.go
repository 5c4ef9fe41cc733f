// Package slots decides which of the attempts that wait for slots starts next.
//
// A [Limiter] bounds how many attempts are live at once: in the whole run, below one group or
// for_each, or with one agent. A [Queue] holds the requests of one run for slots, in the order of
// their priorities ([Request.Before], [Priority]). An attempt takes one slot of each of its
// limiters, all at once or none.
//
// No request waits for a slot that it could have. A request is passed over only while one of its
// own limiters is full. Work is finite, so no request waits forever.
//
// The package is pure. It knows no machine: T is whatever its user needs to find the attempt
// again. It must never import runner/machine. Enter at [Queue].
package slots

import (
	"math"
	"slices"

	"github.com/flowrun/flowrun/runner/heap"
)

// Limiter bounds how many attempts are live at once. Make it with NewLimiter.
type Limiter[T any] struct {
	capacity, used int
	blocked        [2]heap.Heap[turn[T]] // classes that found the limiter full, by class.side
}

// NewLimiter makes a limiter of so many slots. All of them are free.
func NewLimiter[T any](capacity int) *Limiter[T] { return &Limiter[T]{capacity: capacity} }

// Capacity is how many slots the limiter has.
func (l *Limiter[T]) Capacity() int { return l.capacity }

// Used is how many slots are taken.
func (l *Limiter[T]) Used() int { return l.used }

// HasRoom reports whether a slot is free.
func (l *Limiter[T]) HasRoom() bool { return !l.isFull() }

func (l *Limiter[T]) isFull() bool { return l.used >= l.capacity }

// Request asks for the slots of one attempt. Requests of one queue must differ in Seq, so that
// their order is total.
type Request[T any] struct {
	Of       T
	Priority int16
	// Left is the expected way from the attempt's start to the end of the run, in microseconds; 0
	// where nobody knows it. Begun goes before every other way.
	Left int64
	Seq  uint64 // the order of becoming ready
}

// Begun is the way of a node that has started: a retry or a gate does not queue behind newcomers
// of the same priority.
const Begun = math.MaxInt64

// Before reports whether r has the next slot of two: the higher priority, then the longer way,
// then the earlier request.
func (r Request[T]) Before(other Request[T]) bool {
	switch {
	case r.Priority != other.Priority:
		return r.Priority > other.Priority
	case r.Left != other.Left:
		return r.Left > other.Left
	}
	return r.Seq < other.Seq
}

// Choice is a set of limiters of which a request takes one: those of the agents that can do the same
// task. With Slotless set, there are also agents for whom the request needs no slot at all.
type Choice[T any] struct {
	Of       []*Limiter[T]
	Slotless bool
}

func (c *Choice[T]) isFull() bool {
	return c != nil && !slices.ContainsFunc(c.Of, (*Limiter[T]).HasRoom)
}

// Key names the limiters of a request: the limiter of its agent or a choice of them, the innermost of
// the groups around it, and whether it needs a slot of the run. Requests of equal keys must have the
// same limiters.
type Key[T any] struct {
	Agent, Around *Limiter[T]
	Choice        *Choice[T]
	Call          bool // a call needs no slot of the run
}

func (k *Key[T]) isMixed() bool { return k.Choice != nil && k.Choice.Slotless }

// Queue holds requests until they have their slots. Make it with NewQueue. It is not safe for
// concurrent use.
//
// Requests of one key form a class, and only the first of a class is looked at. If the first
// request of a class finds a limiter full, the class stands at that limiter until the limiter has
// a free slot. So a start takes a few steps, however many requests wait.
type Queue[T any] struct {
	run     *Limiter[T]
	classes map[Key[T]]*class[T]
	open    [2]heap.Heap[turn[T]] // classes that may have room, by class.side
	mixed   []*class[T]           // classes with a choice that may need no slot; they stand nowhere else
	moved   bool                  // something has changed since no class of mixed could start
	parked  line[T]               // requests of a queue without other limiters: see Wait
}

// NewQueue makes a queue without requests and without a limiter of the run: see SetRun.
func NewQueue[T any]() *Queue[T] { return &Queue[T]{classes: map[Key[T]]*class[T]{}} }

// SetRun sets the limiter of the run. It comes before the first request.
func (q *Queue[T]) SetRun(run *Limiter[T]) { q.run = run }

// class holds the requests for slots of the same limiters.
type class[T any] struct {
	key      Key[T]
	limits   []*Limiter[T] // without the run's and those of a choice
	requests line[T]
	moves    uint64 // a turn that was made before the last move is void
}

// turn is a class where it stands, with its first request as of then.
type turn[T any] struct {
	class *class[T]
	first Request[T]
	move  uint64
}

func (t turn[T]) Before(other turn[T]) bool { return t.first.Before(other.first) }

// Add adds a request for a slot of each of limits, and of the run unless the key is that of a call.
func (q *Queue[T]) Add(r Request[T], key Key[T], limits []*Limiter[T]) {
	c := q.classes[key]
	if c == nil {
		c = &class[T]{key: key, limits: append([]*Limiter[T](nil), limits...)}
		q.classes[key] = c
		if key.isMixed() {
			q.mixed = append(q.mixed, c)
		}
	}
	if key.isMixed() {
		c.requests.push(r)
		q.moved = true
		return
	}
	first := c.requests.isEmpty() || r.Before(c.requests.first())
	c.requests.push(r)
	if first {
		q.openClass(c)
	}
}

// openClass lets the first request of a class compete; an empty class is removed.
func (q *Queue[T]) openClass(c *class[T]) {
	if c.requests.isEmpty() {
		delete(q.classes, c.key)
		return
	}
	q.open[c.side()].Push(c.newTurn())
}

// side is 1 for calls and 0 for the rest: a call starts also while the run has no free slot.
func (c *class[T]) side() int {
	if c.key.Call {
		return 1
	}
	return 0
}

func (c *class[T]) newTurn() turn[T] {
	c.moves++
	return turn[T]{c, c.requests.first(), c.moves}
}

// dropVoid drops the void turns at the head of a heap. It reports whether a turn is left.
func dropVoid[T any](h *heap.Heap[turn[T]]) bool {
	for len(*h) > 0 {
		if t := (*h)[0]; t.move == t.class.moves {
			return true
		}
		h.Pop()
	}
	return false
}

// nextHeap returns the heap with the first class to look at; nil if no class may have room.
func (q *Queue[T]) nextHeap() *heap.Heap[turn[T]] {
	calls := dropVoid(&q.open[1])
	if !dropVoid(&q.open[0]) || q.run.isFull() || calls && q.open[1][0].Before(q.open[0][0]) {
		if !calls {
			return nil
		}
		return &q.open[1]
	}
	return &q.open[0]
}

// More reports whether Pick would look at a class.
func (q *Queue[T]) More() bool { return q.moved && len(q.mixed) > 0 || q.nextHeap() != nil }

// Pick looks at one class. If the first request of the class has its slots now, Pick takes them
// and returns the request with picked set. more is false if there was no class to look at. A
// request that is not alive any more is dropped.
//
// Pick takes no slot of a Choice: the caller chooses, and takes that one. If the Choice has Slotless
// set, slotless reports whether the caller would choose now an agent for whom the request needs no
// slot: then Pick takes none.
func (q *Queue[T]) Pick(alive, slotless func(T) bool) (r Request[T], picked, more bool) {
	h, mixed := q.nextHeap(), q.nextMixed(alive, slotless)
	if mixed != nil && (h == nil || mixed.requests.first().Before((*h)[0].first)) {
		return q.startMixed(mixed, slotless), true, true
	}
	if h == nil {
		return r, false, false
	}
	c := h.Pop().class
	c.moves++
	switch full := c.fullLimiter(); {
	case !alive(c.requests.first().Of):
		c.requests.pop()
		q.openClass(c)
	case full != nil:
		full.blocked[c.side()].Push(c.newTurn())
	case c.key.Choice.isFull():
		q.blockAtAll(c)
	default:
		r, picked = c.requests.pop(), true
		c.takeSlots(q.run)
		q.openClass(c)
	}
	for _, l := range c.limits {
		q.openBlocked(l)
	}
	if c.key.Choice != nil {
		for _, l := range c.key.Choice.Of {
			q.openBlocked(l)
		}
	}
	q.moved = q.moved || picked
	return r, picked, true
}

// nextMixed returns the class of mixed whose first request comes first of those that can start now;
// nil if none can. It looks at all of them: what would be chosen changes with each start and each end.
func (q *Queue[T]) nextMixed(alive, slotless func(T) bool) (best *class[T]) {
	if !q.moved {
		return nil
	}
	left := q.mixed[:0]
	for _, c := range q.mixed {
		for !c.requests.isEmpty() && !alive(c.requests.first().Of) {
			c.requests.pop()
		}
		if c.requests.isEmpty() {
			delete(q.classes, c.key)
			continue
		}
		left = append(left, c)
		if best != nil && best.requests.first().Before(c.requests.first()) {
			continue
		}
		if !q.run.isFull() && c.fullLimiter() == nil && !c.key.Choice.isFull() || slotless(c.requests.first().Of) {
			best = c
		}
	}
	clear(q.mixed[len(left):])
	q.mixed, q.moved = left, best != nil
	return best
}

func (q *Queue[T]) startMixed(c *class[T], slotless func(T) bool) Request[T] {
	if !slotless(c.requests.first().Of) {
		c.takeSlots(q.run)
	}
	return c.requests.pop()
}

// blockAtAll lets a class stand at all limiters of its choice: the first of them that has a free slot
// opens it, which voids its other turns. Void turns are dropped before they outnumber the classes.
func (q *Queue[T]) blockAtAll(c *class[T]) {
	t := c.newTurn()
	for _, l := range c.key.Choice.Of {
		h := &l.blocked[c.side()]
		if len(*h) > 2*len(q.classes)+16 {
			var valid heap.Heap[turn[T]]
			for _, t := range *h {
				if t.move == t.class.moves {
					valid.Push(t)
				}
			}
			*h = valid
		}
		h.Push(t)
	}
}

func (c *class[T]) fullLimiter() *Limiter[T] {
	for _, l := range c.limits {
		if l.isFull() {
			return l
		}
	}
	return nil
}

func (c *class[T]) takeSlots(run *Limiter[T]) {
	for _, l := range c.limits {
		l.used++
	}
	if !c.key.Call {
		run.used++
	}
}

// openBlocked opens the first of the classes that stand at a limiter, if the limiter has a free
// slot. Whenever an opened class has been looked at, the next one opens.
func (q *Queue[T]) openBlocked(l *Limiter[T]) {
	for side := range l.blocked {
		if !l.isFull() && dropVoid(&l.blocked[side]) {
			q.openClass(l.blocked[side].Pop().class)
		}
	}
}

// Take takes one slot of a limiter that is not the run's, also where none is free: nothing starts then until enough are.
func (q *Queue[T]) Take(l *Limiter[T]) {
	l.used++
	q.moved = true
}

// Return frees one slot of a limiter that is not the run's.
func (q *Queue[T]) Return(l *Limiter[T]) {
	l.used--
	q.moved = true
	q.openBlocked(l)
}

// Resize gives a limiter another capacity. If more slots are taken than there are now, no request starts until enough are free.
func (q *Queue[T]) Resize(l *Limiter[T], capacity int) {
	l.capacity = capacity
	q.moved = true
	q.openBlocked(l)
}

// Run is the limiter of the run.
func (q *Queue[T]) Run() *Limiter[T] { return q.run }

// ReturnRun frees one slot of the run. It reports whether a request stands parked for it: see Wait.
func (q *Queue[T]) ReturnRun() (parked bool) {
	q.run.used--
	q.moved = true
	return !q.parked.isEmpty()
}

// TakeRun takes a slot of the run, if one is free. A queue without other limiters and priorities
// uses TakeRun, Wait and NextParked instead of Add and Pick: each attempt then costs one
// comparison.
func (q *Queue[T]) TakeRun() bool {
	if q.run.isFull() {
		return false
	}
	q.run.used++
	return true
}

// Wait parks a request until NextParked.
func (q *Queue[T]) Wait(r Request[T]) { q.parked.push(r) }

// NextParked removes the first parked request while the run has a free slot; ok is false if there
// is none. The caller takes the slot with TakeRun.
func (q *Queue[T]) NextParked() (r Request[T], ok bool) {
	if q.run.isFull() || q.parked.isEmpty() {
		return r, false
	}
	return q.parked.pop(), true
}

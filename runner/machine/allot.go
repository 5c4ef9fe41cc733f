package machine

import (
	"github.com/flowrun/flowrun/runner/heap"
	"github.com/flowrun/flowrun/runner/plan"
)

// contest is who competes for slots. Where a run has one bound and no order but that of becoming ready, each attempt goes
// as it comes, and nothing competes. Else a slot is given away when all that an event sets free is known, to the first
// of those that have room in all of their limiters; what has no room stands in nobody's way.
//
// So nothing waits for a slot that it could have, and one is passed over only while a limiter of its own is full. Work
// is finite (a repeat has its max), so nothing waits for ever. The price of a start is a few steps in heaps: those
// that need the same limiters are one [class], and only its first is looked at. A class whose first finds a limiter full
// stands there until that has room.
type contest struct {
	on      bool
	classes map[classKey]*class
	// open are the classes of which nothing says that they have no room: those that need a slot of the run, and those that
	// do not.
	open [2]heap.Heap[turn]
}

// classKey tells classes apart: the agent's limiter, the innermost of groups, and whether it is a call, which needs no slot
// of the run.
type classKey struct {
	agent, around *limiter
	call          bool
}

// class is what needs slots of the same limiters.
type class struct {
	key    classKey
	limits []*limiter // but for the run's
	wants  heap.Heap[want]
	stamp  uint64 // counts its moves: a turn of an older one is void
}

// turn is a class where it stands, with its first as it was then.
type turn struct {
	class *class
	first want
	stamp uint64
}

func (t turn) Before(other turn) bool { return t.first.Before(other.first) }

// contested tells whether the order of starts is more than that of becoming ready.
func contested(g *plan.Graph) bool {
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.Ranked != plan.None || n.MaxConcurrency != nil {
			return true
		}
	}
	for i := range g.Program.Agents {
		if g.Program.Agents[i].Concurrency != nil {
			return true
		}
	}
	return false
}

// enter lets one more compete for slots of limits, and of the run's limiter unless it is a call.
func (c *contest) enter(w want, key classKey, limits []*limiter) {
	k := c.classes[key]
	if k == nil {
		if c.classes == nil {
			c.classes = map[classKey]*class{}
		}
		k = &class{key: key, limits: append([]*limiter(nil), limits...)}
		c.classes[key] = k
	}
	first := len(k.wants) == 0 || w.Before(k.wants[0])
	k.wants.Push(w)
	if first {
		c.place(k)
	}
}

// place puts a class among the open, or away if it is empty.
func (c *contest) place(k *class) {
	if len(k.wants) == 0 {
		delete(c.classes, k.key)
		return
	}
	c.open[k.side()].Push(k.turn())
}

// side is 1 for calls, and 0 for what needs a slot of the run: that has none must not keep a call from starting.
func (k *class) side() int {
	if k.key.call {
		return 1
	}
	return 0
}

func (k *class) turn() turn {
	k.stamp++
	return turn{k, k.wants[0], k.stamp}
}

// best drops the void turns at the head of a heap and tells whether there is another.
func best(h *heap.Heap[turn]) bool {
	for len(*h) > 0 {
		if t := (*h)[0]; t.stamp == t.class.stamp {
			return true
		}
		h.Pop()
	}
	return false
}

// next is the heap whose first is to be looked at now; nil if there is none.
func (c *contest) next(run *limiter) *heap.Heap[turn] {
	calls := best(&c.open[1])
	if !best(&c.open[0]) || run.used >= run.cap || calls && c.open[1][0].Before(c.open[0][0]) {
		if !calls {
			return nil
		}
		return &c.open[1]
	}
	return &c.open[0]
}

// pick looks at the first class and gives the attempt that has its slots now, if there is one; more is false if nothing
// was left to look at. What is not alive any more is thrown away.
func (c *contest) pick(run *limiter, alive func(*want) bool) (w want, picked, more bool) {
	h := c.next(run)
	if h == nil {
		return w, false, false
	}
	k := h.Pop().class
	k.stamp++
	switch full := k.full(); {
	case !alive(&k.wants[0]):
		k.wants.Pop()
		c.place(k)
	case full != nil:
		full.blocked[k.side()].Push(k.turn())
	default:
		w, picked = k.wants.Pop(), true
		k.take(run)
		c.place(k)
	}
	for _, l := range k.limits {
		c.surface(l)
	}
	return w, picked, true
}

func (k *class) full() *limiter {
	for _, l := range k.limits {
		if l.used >= l.cap {
			return l
		}
	}
	return nil
}

func (k *class) take(run *limiter) {
	for _, l := range k.limits {
		l.used++
	}
	if !k.key.call {
		run.used++
	}
}

// surface lets the first of the classes that stand at a limiter compete again if that has room. Whenever one that did has
// been looked at, the next does.
func (c *contest) surface(l *limiter) {
	for side := range l.blocked {
		if l.used < l.cap && best(&l.blocked[side]) {
			c.place(l.blocked[side].Pop().class)
		}
	}
}

// allot gives the slots that one attempt needs away, or finds that it must wait. It does nothing and says so where nobody
// competes.
func (m *Machine) allot() bool {
	w, picked, more := m.contest.pick(m.limit, func(w *want) bool {
		return m.state(w.ref).queued && !m.halted(w.ref) // what a stop finds queued it ends
	})
	if picked {
		m.state(w.ref).queued = false
		m.begin(w)
	}
	return more
}

package machine

import (
	"math"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/heap"
	"github.com/flowrun/flowrun/runner/plan"
)

// limiter bounds how many attempts are live at once: in the run, below a group or for_each, or with one agent. Leaf
// attempts alone hold slots. An attempt takes a slot of each of its limiters, all at once or none.
type limiter struct {
	cap, used int
	parked    heap.Heap[want]    // who waits where nobody competes: see contest
	blocked   [2]heap.Heap[turn] // who does not compete because it is full, as contest.open
}

// want is an attempt that should start: of the node's action, or of the gate numbered (from 0). The order is that of
// priority; where it is equal, the longest way to the end of the run first, if that is known; then that of becoming
// ready. What has begun keeps its turn, and where ways are known goes before what has not: a retry or a gate does not
// queue behind newcomers of its own rank.
type want struct {
	ref
	gate int
	rank int16
	left int64 // see Machine.left; begun where it does not count any more
	seq  uint64
}

// begun is further from the end than any other.
const begun = math.MaxInt64

// before tells which of two has the next slot.
func (w want) Before(other want) bool {
	switch {
	case w.rank != other.rank:
		return w.rank > other.rank
	case w.left != other.left:
		return w.left > other.left
	}
	return w.seq < other.seq
}

// work as a gate number is the action itself.
const work = -1

// enqueue asks for a start as soon as all limiters have a slot.
func (m *Machine) enqueue(r ref, gate int) {
	s := m.state(r)
	if s.seq == 0 {
		if err := m.takeRank(r); err != nil {
			m.fail(r, evaluation("priority", err))
			return
		}
		m.queueSeq++
		s.seq = m.queueSeq
	}
	s.queued = true
	w := want{ref: r, gate: gate, seq: s.seq}
	if s.rare != nil {
		w.rank = s.rare.rank
	}
	if m.left != nil {
		if w.left = m.left[r.node]; s.status != event.Pending {
			w.left = begun
		}
	}
	if !m.contest.on {
		m.admit(w)
		return
	}
	var buf [8]*limiter
	key := classKey{call: m.calls(w)}
	limits := m.groups(buf[:0], r)
	if len(limits) > 0 {
		key.around = limits[0]
	}
	if key.agent = m.employer(w); key.agent != nil {
		limits = append(limits, key.agent)
	}
	m.contest.enter(w, key, limits)
}

// admit starts an attempt, or lets it wait, where the run's is the only limiter and nobody competes.
func (m *Machine) admit(w want) {
	if !m.calls(w) {
		if m.limit.used >= m.limit.cap {
			m.limit.parked.Push(w)
			return
		}
		m.limit.used++
	}
	m.state(w.ref).queued = false
	m.begin(w)
}

// giveBack frees an attempt's slots and lets others have them.
func (m *Machine) giveBack(r ref, gate int) {
	w := want{ref: r, gate: gate}
	if !m.calls(w) {
		m.limit.used--
		if len(m.limit.parked) > 0 {
			m.agenda.push(task{do: doWake})
		}
	}
	if !m.contest.on {
		return
	}
	var buf [8]*limiter
	limits := m.groups(buf[:0], r)
	if l := m.employer(w); l != nil {
		limits = append(limits, l)
	}
	for _, l := range limits {
		l.used--
		m.contest.surface(l)
	}
}

// wake lets those that wait have the slots that are free.
func (m *Machine) wake() {
	for l := m.limit; l.used < l.cap && len(l.parked) > 0; {
		if w := l.parked.Pop(); m.state(w.ref).queued && !m.halted(w.ref) { // what a stop finds queued it ends
			m.admit(w)
		}
	}
}

// groups lists what bounds a node below groups and for_each, from the innermost out.
func (m *Machine) groups(list []*limiter, r ref) []*limiter {
	for ; r.node != plan.None; r = m.parent(r) {
		if d := m.state(r).detail; d != nil && d.body != nil && d.limit != nil {
			list = append(list, d.limit)
		}
	}
	return list
}

// employer is what bounds an attempt of an agent; gates do not count against it.
func (m *Machine) employer(w want) *limiter {
	var a *ir.Agent
	if w.gate == work {
		a = m.agent(w.ref)
	}
	if a == nil {
		return nil
	}
	return m.agents[a.Name]
}

package machine

import "github.com/flowrun/flowrun/runner/plan"

// limiter bounds how many attempts are live at once: in the run, below a group or for_each, or with one agent. Leaf
// attempts alone hold slots. An attempt takes a slot of each of its limiters, all at once or none, and parks at the
// first that is full; there the order is that of priority, and then of becoming ready, so a retry or a gate does not queue
// behind newcomers of its own rank.
type limiter struct {
	cap, used int
	parked    []want // a heap by rank, the highest first, and seq
}

// want is an attempt that should start: of the node's action, or of the gate numbered (from 0).
type want struct {
	ref
	gate int
	rank int16
	seq  uint64
}

// before tells which of two has the next slot.
func (w *want) before(other *want) bool {
	return w.rank > other.rank || w.rank == other.rank && w.seq < other.seq
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
	w := want{r, gate, 0, s.seq}
	if s.rare != nil {
		w.rank = s.rare.rank
	}
	if m.contest.on {
		m.contest.ready.park(w)
		return
	}
	m.admit(w)
}

func (m *Machine) admit(w want) {
	var buf [8]*limiter
	limits := m.limiters(buf[:0], w)
	for _, l := range limits {
		if l.used >= l.cap {
			l.park(w)
			return
		}
	}
	for _, l := range limits {
		l.used++
	}
	m.state(w.ref).queued = false
	m.begin(w)
}

// giveBack frees an attempt's slots and lets others have them.
func (m *Machine) giveBack(r ref, gate int) {
	var buf [8]*limiter
	for _, l := range m.limiters(buf[:0], want{ref: r, gate: gate}) {
		l.used--
		switch {
		case len(l.parked) == 0:
		case m.contest.on:
			m.contest.woken = append(m.contest.woken, l)
		default:
			m.agenda.push(task{do: doWake, limiter: l})
		}
	}
}

func (m *Machine) wake(l *limiter) {
	for l.used < l.cap && len(l.parked) > 0 {
		if w := l.unpark(); m.state(w.ref).queued && !m.halted(w.ref) { // what a stop finds queued it ends
			m.admit(w)
		}
	}
}

// limiters lists what bounds an attempt, from the innermost out. Gates don't count against the agent, calls not
// against the run.
func (m *Machine) limiters(list []*limiter, w want) []*limiter {
	if a := m.agent(w.ref); a != nil && w.gate == work {
		if l := m.agents[a.Name]; l != nil {
			list = append(list, l)
		}
	}
	for r := w.ref; r.node != plan.None; r = m.parent(r) {
		if d := m.state(r).detail; d != nil && d.body != nil && d.limit != nil {
			list = append(list, d.limit)
		}
	}
	if m.calls(w) {
		return list
	}
	return append(list, m.limit)
}

func (l *limiter) park(w want) {
	l.parked = append(l.parked, w)
	for i := len(l.parked) - 1; i > 0; {
		up := (i - 1) / 2
		if !l.parked[i].before(&l.parked[up]) {
			return
		}
		l.parked[up], l.parked[i] = l.parked[i], l.parked[up]
		i = up
	}
}

func (l *limiter) unpark() want {
	first, last := l.parked[0], len(l.parked)-1
	l.parked[0], l.parked[last] = l.parked[last], want{}
	l.parked = l.parked[:last]
	for i := 0; ; {
		least := i
		for _, down := range [2]int{2*i + 1, 2*i + 2} {
			if down < last && l.parked[down].before(&l.parked[least]) {
				least = down
			}
		}
		if least == i {
			return first
		}
		l.parked[least], l.parked[i] = l.parked[i], l.parked[least]
		i = least
	}
}

package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// joining is how a group or for_each decides that it has enough, where its file says so. Once it is decided, the rest are
// losers: they end as they may, and what they end as counts for nothing, here or in the run.
type joining struct {
	need     int  // successes; 0 where the join is no number
	decided  bool // by its join, before or with the last end
	detached bool // it has ended, or is about to, and the run alone waits for the rest
	warned   bool // that its condition could not be computed; it is said once
	err      *event.Error
	winner   string
}

func (b *body) winner() string {
	switch {
	case b.loop != nil:
		return b.loop.winner
	case b.join != nil:
		return b.join.winner
	}
	return ""
}

// joins prepares the join of a group or for_each that opens, or fails it.
func (m *Machine) joins(r ref) bool {
	n, d := m.node(r), m.detail(r)
	if !n.Joins() || n.ForEach != nil && !m.collector(r) {
		return true
	}
	d.join = &joining{}
	if k := d.kept(); k != nil {
		d.join.decided, d.join.winner, d.output = true, k.Winner, k.Output
		return true
	}
	switch {
	case n.Join == nil:
	case n.Join.Count != nil:
		need, err := m.number(n.Join.Count, m.scope(r), 0, MaxInstances)
		if err != nil {
			m.fail(r, evaluation("join", err))
			return false
		}
		d.join.need = need
	case n.Join.Word == ir.JoinFirstSuccess:
		d.join.need = 1
	}
	return true
}

// decide asks a join after the end of one of the children or instances of p.
func (m *Machine) decide(p, child ref, s *state) {
	d := m.state(p).detail
	j, t := d.join, &d.tally
	if j == nil {
		return
	}
	rule := m.node(p).Join
	switch {
	case rule == nil || rule.Word == ir.JoinAll:
		if t.bad() > 0 && d.remaining > 0 && m.losers(p) != ir.LosersWait {
			m.enough(p, &event.Error{Kind: event.Recoverable, Reason: event.ReasonChild, Message: t.words()})
		}
	case rule.Word == ir.JoinAny:
		if s.status != event.Succeeded && s.status != event.FailedS {
			return
		}
		j.winner = m.label(child)
		if s.status == event.Succeeded || s.tolerated {
			m.enough(p, nil)
			return
		}
		m.enough(p, unmet("%s ended first, and failed", s.path))
	case j.need > 0:
		switch {
		case int(t.succeeded) == j.need:
			if rule.Word != "" {
				j.winner = m.label(child)
			}
			m.enough(p, nil)
		case int(t.succeeded)+d.remaining < j.need:
			m.enough(p, m.short(j.need, d))
		}
	default:
		m.ask(p, d, rule)
	}
}

// ask asks a join that is a condition. One that cannot be computed does not hold: that is said the first time, and what the
// group fails of in the end.
func (m *Machine) ask(p ref, d *detail, rule *ir.Join) {
	sc := m.scope(p)
	sc.mode = joins
	holds, err := m.holds(rule.Condition, sc)
	switch {
	case holds:
		m.enough(p, nil)
	case d.remaining == 0 && err != nil:
		m.enough(p, unmet("its join cannot be evaluated: %v", err))
	case err != nil && !d.join.warned:
		d.join.warned = true
		m.note(p, event.Warned, fmt.Sprintf("its join cannot be evaluated so far: %v", err), nil)
	case d.remaining == 0:
		m.enough(p, unmet("its join never held (%s): %s", d.tally.all(), m.reading(rule.Condition, sc)))
	}
}

// short is the error of a join whose number cannot be reached any more.
func (m *Machine) short(need int, d *detail) *event.Error {
	return unmet("its join needs %d to succeed, and at most %d still can (%s)", need, int(d.tally.succeeded)+d.remaining, d.tally.all())
}

func unmet(format string, args ...any) *event.Error {
	return &event.Error{Kind: event.Recoverable, Reason: event.ReasonJoin, Message: fmt.Sprintf(format, args...)}
}

// enough notes what the join decided and deals with the losers. What the group hands on is what is there now.
func (m *Machine) enough(p ref, err *event.Error) {
	d := m.state(p).detail
	d.join.decided, d.join.err = true, err
	if err != nil {
		err.ExitCode = -1
	} else {
		d.output = m.gather(p)
	}
	if d.remaining == 0 {
		return
	}
	switch m.losers(p) {
	case ir.LosersWait:
	case ir.LosersCancel:
		m.unmade(d)
		m.agenda.push(task{do: doSweepBelow, ref: p, reason: fmt.Sprintf("%q does not need it any more", m.node(p).Name), hard: true})
	case ir.LosersDetach:
		if m.detached == 0 {
			m.strays = nil
		}
		d.join.detached = true
		m.detached += d.remaining
		m.strays = append(m.strays, p)
		m.agenda.push(task{do: doCollect, ref: p})
	default:
		assert(false, "%s has the unknown losers %q", d.path, m.losers(p))
	}
}

// losers says what becomes of the rest.
func (m *Machine) losers(p ref) ir.Losers {
	n := m.node(p)
	switch {
	case n.Losers != "":
		return n.Losers
	case n.Join == nil || n.Join.Word == ir.JoinAll:
		return ir.LosersWait
	}
	return ir.LosersCancel
}

// unmade gives up the instances of a for_each that were not made yet.
func (m *Machine) unmade(d *detail) (never int) {
	if d.items == nil {
		return 0
	}
	never = len(d.items) - len(d.frames)
	d.items = d.items[:len(d.frames)]
	d.remaining -= never
	return never
}

// joined ends what its join decided, and what had too little to ask it of. It is false where all had to end well.
func (m *Machine) joined(r ref) bool {
	d := m.state(r).detail
	j := d.join
	switch {
	case j.decided && j.err != nil:
		if j.err.Reason == event.ReasonJoin { // one failure was not too many
			d.cause = cause{}
		}
		m.fail(r, j.err)
	case j.decided:
		m.deliver(r)
	case j.need > 0: // there was nothing
		m.fail(r, m.short(j.need, d))
	default:
		return false
	}
	return true
}

// label is what a winner is called: the key of an instance, or the name of a child.
func (m *Machine) label(r ref) string {
	if m.instance(r) {
		return r.frame.key
	}
	return m.node(r).Name
}

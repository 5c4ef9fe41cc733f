package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// joinState is how a group or for_each decides that it has enough, where its file says so. Once it is decided, the rest are
// losers: they end as they may, and what they end as counts for nothing, here or in the run.
type joinState struct {
	need     int  // successes; 0 where the join is no number
	decided  bool // by its join, before or with the last end
	detached bool // it has ended, or is about to, and the run alone waits for the rest
	warned   bool // that its condition could not be computed; it is said once
	err      *event.Error
	winner   string
}

func (b *groupState) winnerName() string {
	switch {
	case b.loop != nil:
		return b.loop.winner
	case b.join != nil:
		return b.join.winner
	}
	return ""
}

// openJoin prepares the join of a group or for_each that opens, or fails it.
func (m *Machine) openJoin(r ref) bool {
	n, d := m.node(r), m.liveState(r)
	if !n.Joins() || n.ForEach != nil && !m.isCollector(r) {
		return true
	}
	d.join = &joinState{}
	if k := d.reusedEnd(); k != nil {
		d.join.decided, d.join.winner, d.output = true, k.Winner, k.Output
		return true
	}
	switch {
	case n.Join == nil:
	case n.Join.Count != nil:
		need, err := m.evalCount(n.Join.Count, m.newScope(r), 0, MaxInstances)
		if err != nil {
			m.failNode(r, evaluationError("join", err))
			return false
		}
		d.join.need = need
	case n.Join.Word == ir.JoinFirstSuccess:
		d.join.need = 1
	}
	return true
}

// decideJoin asks a join after the end of one of the children or instances of p.
func (m *Machine) decideJoin(p, child ref, s *state) {
	d := m.state(p).liveState
	j, t := d.join, &d.tally
	if j == nil {
		return
	}
	rule := m.node(p).Join
	switch {
	case rule == nil || rule.Word == ir.JoinAll:
		if t.countBad() > 0 && d.remaining > 0 && m.loserPolicy(p) != ir.LosersWait {
			m.closeJoin(p, &event.Error{Kind: event.Recoverable, Reason: event.ReasonChild, Message: t.describeBad()})
		}
	case rule.Word == ir.JoinAny:
		if s.status != event.Succeeded && s.status != event.FailedS {
			return
		}
		j.winner = m.memberName(child)
		if s.status == event.Succeeded || s.tolerated {
			m.closeJoin(p, nil)
			return
		}
		m.closeJoin(p, joinError("%s ended first, and failed", s.path))
	case j.need > 0:
		switch {
		case int(t.succeeded) == j.need:
			if rule.Word != "" {
				j.winner = m.memberName(child)
			}
			m.closeJoin(p, nil)
		case int(t.succeeded)+d.remaining < j.need:
			m.closeJoin(p, m.unreachableError(j.need, d))
		}
	default:
		m.evalJoin(p, d, rule)
	}
}

// evalJoin asks a join that is a condition. One that cannot be computed does not hold: that is said the first time, and what the
// group fails of in the end.
func (m *Machine) evalJoin(p ref, d *liveState, rule *ir.Join) {
	sc := m.newScope(p)
	sc.mode = joins
	holds, err := m.evalCondition(rule.Condition, sc)
	switch {
	case holds:
		m.closeJoin(p, nil)
	case d.remaining == 0 && err != nil:
		m.closeJoin(p, joinError("its join cannot be evaluated: %v", err))
	case err != nil && !d.join.warned:
		d.join.warned = true
		m.showNote(p, event.Warned, fmt.Sprintf("its join cannot be evaluated so far: %v", err), nil)
	case d.remaining == 0:
		m.closeJoin(p, joinError("its join never held (%s): %s", d.tally.describeAll(), m.explainCondition(rule.Condition, sc)))
	}
}

// unreachableError is the error of a join whose number cannot be reached any more.
func (m *Machine) unreachableError(need int, d *liveState) *event.Error {
	return joinError("its join needs %d to succeed, and at most %d still can (%s)", need, int(d.tally.succeeded)+d.remaining, d.tally.describeAll())
}

func joinError(format string, args ...any) *event.Error {
	return &event.Error{Kind: event.Recoverable, Reason: event.ReasonJoin, Message: fmt.Sprintf(format, args...)}
}

// closeJoin notes what the join decided and deals with the losers. What the group hands on is what is there now.
func (m *Machine) closeJoin(p ref, err *event.Error) {
	d := m.state(p).liveState
	d.join.decided, d.join.err = true, err
	if err != nil {
		err.ExitCode = -1
	} else {
		d.output = m.gatherOutputs(p)
	}
	if d.remaining == 0 {
		return
	}
	switch m.loserPolicy(p) {
	case ir.LosersWait:
	case ir.LosersCancel:
		m.dropUnmade(d)
		m.agenda.push(task{do: doCancelChildren, ref: p, reason: fmt.Sprintf("%q does not need it any more", m.node(p).Name), hard: true})
	case ir.LosersDetach:
		if m.detached == 0 {
			m.strays = nil
		}
		d.join.detached = true
		m.detached += d.remaining
		m.strays = append(m.strays, p)
		m.agenda.push(task{do: doCollect, ref: p})
	default:
		assert(false, "%s has the unknown losers %q", d.path, m.loserPolicy(p))
	}
}

// loserPolicy says what becomes of the rest.
func (m *Machine) loserPolicy(p ref) ir.Losers {
	n := m.node(p)
	switch {
	case n.Losers != "":
		return n.Losers
	case n.Join == nil || n.Join.Word == ir.JoinAll:
		return ir.LosersWait
	}
	return ir.LosersCancel
}

// dropUnmade gives up the instances of a for_each that were not made yet.
func (m *Machine) dropUnmade(d *liveState) (never int) {
	if d.items == nil {
		return 0
	}
	never = len(d.items) - len(d.frames)
	d.items = d.items[:len(d.frames)]
	d.remaining -= never
	return never
}

// endJoined ends what its join decided, and what had too little to ask it of. It is false where all had to end well.
func (m *Machine) endJoined(r ref) bool {
	d := m.state(r).liveState
	j := d.join
	switch {
	case j.decided && j.err != nil:
		if j.err.Reason == event.ReasonJoin { // one failure was not too many
			d.cause = cause{}
		}
		m.failNode(r, j.err)
	case j.decided:
		m.deliverOutput(r)
	case j.need > 0: // there was nothing
		m.failNode(r, m.unreachableError(j.need, d))
	default:
		return false
	}
	return true
}

// memberName is what a winner is called: the key of an instance, or the name of a child.
func (m *Machine) memberName(r ref) string {
	if m.isInstance(r) {
		return r.frame.key
	}
	return m.node(r).Name
}

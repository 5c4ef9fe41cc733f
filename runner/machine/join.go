package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
)

// joinState is the join of a group or for_each. After the join is decided, the remaining children
// are losers: their ends do not count in the group or in the run.
type joinState struct {
	need     int  // successes; 0 if the join is not a number
	decided  bool // before or with the last end
	detached bool // the node ends now, and only the run waits for the losers
	warned   bool // a warning about its condition was shown
	err      *event.Error
	winner   string
}

func (b *groupState) winnerName() string {
	switch {
	case b.loop != nil:
		return b.loop.winner
	case b.winner != "":
		return b.winner
	case b.join != nil:
		return b.join.winner
	}
	return ""
}

// openJoin prepares the join of a group or for_each that opens. It fails the node and returns
// false if the join cannot be evaluated.
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
		need, err := m.composer.Count(n.Join.Count, m.newScope(r), 0, limits.MaxInstances)
		if err != nil {
			m.failNode(r, compose.EvaluationError("join", err))
			return false
		}
		d.join.need = need
	case n.Join.Word == ir.JoinFirstSuccess:
		d.join.need = 1
	}
	return true
}

// decideJoin checks the join of p after the end of a child or instance.
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

// evalJoin evaluates a join that is a condition. A join that cannot be evaluated does not hold:
// the machine warns the first time, and the error fails the group at its end.
func (m *Machine) evalJoin(p ref, d *liveState, rule *ir.Join) {
	sc := m.newScope(p)
	sc.Mode = compose.InJoin
	holds, err := m.composer.Condition(rule.Condition, sc)
	switch {
	case holds:
		m.closeJoin(p, nil)
	case d.remaining == 0 && err != nil:
		m.closeJoin(p, joinError("its join cannot be evaluated: %v", err))
	case err != nil && !d.join.warned:
		d.join.warned = true
		m.showNote(p, event.Warned, fmt.Sprintf("its join cannot be evaluated so far: %v", err), nil)
	case d.remaining == 0:
		m.closeJoin(p, joinError("its join never held (%s): %s", d.tally.describeAll(), m.composer.ExplainCondition(rule.Condition, sc)))
	}
}

// unreachableError returns the error of a join that can no longer reach its number of successes.
func (m *Machine) unreachableError(need int, d *liveState) *event.Error {
	return joinError("its join needs %d to succeed, and at most %d still can (%s)", need, int(d.tally.succeeded)+d.remaining, d.tally.describeAll())
}

func joinError(format string, args ...any) *event.Error {
	return &event.Error{Kind: event.Recoverable, Reason: event.ReasonJoin, Message: fmt.Sprintf(format, args...)}
}

// closeJoin records the decision of a join and treats the losers by their policy. The output of
// the group is fixed now.
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
		if m.stopping != nil { // what stops the run has gone through the others, and passes by a group that has ended
			m.agenda.push(task{do: doCancelChildren, ref: p, reason: m.whyStopped(), hard: !m.sparesAlways()})
		}
		m.collectLater(p)
	default:
		assert(false, "%s has the unknown losers %q", d.path, m.loserPolicy(p))
	}
}

// loserPolicy returns the treatment of the remaining children.
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

// dropUnmade drops the instances of a for_each that were not made yet and returns their number.
func (m *Machine) dropUnmade(d *liveState) (never int) {
	if d.items == nil {
		return 0
	}
	never = len(d.items) - len(d.frames)
	d.items = d.items[:len(d.frames)]
	d.remaining -= never
	return never
}

// endJoined ends a node with a join by the join's decision, or fails it if the join had too few
// children. It returns false if all children had to succeed.
func (m *Machine) endJoined(r ref) bool {
	d := m.state(r).liveState
	j := d.join
	switch {
	case j.decided && j.err != nil:
		if j.err.Reason == event.ReasonJoin { // the join failed, not one child
			d.cause = cause{}
		}
		m.failNode(r, j.err)
	case j.decided:
		m.deliverOutput(r)
	case j.need > 0: // there were no children
		m.failNode(r, m.unreachableError(j.need, d))
	default:
		return false
	}
	return true
}

// memberName returns the name of a possible winner: the key of an instance, or the name of a
// child.
func (m *Machine) memberName(r ref) string {
	if m.isInstance(r) {
		return r.frame.key
	}
	return m.node(r).Name
}

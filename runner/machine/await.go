package machine

import (
	"fmt"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
)

// A level of an escalation can await the decision of a person. The node waits without a slot until somebody decides what becomes of it, or
// until the time of the level is over: then the level did not settle it. Whoever says that he looks at it stops that time, or starts
// another one.

// awaitDecision has a node wait for people. It reports false if the time of the level cannot be evaluated.
func (m *Machine) awaitDecision(r ref, e *escalation) bool {
	l, d, sc := &e.of.Levels[e.at], m.liveState(r), m.levelScope(r)
	after, err := m.bound(l.Await.After, sc)
	what, afterAck := "after", time.Duration(0)
	if err == nil {
		what = "after_ack"
		afterAck, err = m.bound(l.Await.AfterAck, sc)
	}
	if err != nil {
		m.showNote(r, event.Warned, fmt.Sprintf("level %q: %s: %v", l.Name, what, err), nil)
		if m.behaviour[ir.MessagesNameTheAnswer] {
			m.sendOfLevel(r, e, e.at, "")
		}
		return false
	}
	q := &event.Ask{Kind: event.AskEscalation, Words: []event.Word{event.WordRetry, event.WordSkip, event.WordAbort, event.WordOverride, event.WordAck},
		Prompt: event.Bound(fmt.Sprintf("%s has come to level %q of escalation %q: %s", d.path, l.Name, e.of.Name, m.failureText(r)), maxSaid),
		Show:   shownFailure(e, d), Output: m.overrideType(r)}
	if after > 0 {
		q.Until = m.now.Add(after)
	}
	m.openAsk(r, q)
	d.cold.asking.afterAck = afterAck
	if m.behaviour[ir.MessagesNameTheAnswer] {
		m.sendOfLevel(r, e, e.at, m.answerLine(q))
	}
	return true
}

// bound evaluates a duration; 0 where there is none.
func (m *Machine) bound(e *ir.Expr, sc *compose.Scope) (time.Duration, error) {
	if e == nil {
		return 0, nil
	}
	return m.composer.Duration(e, sc)
}

// shownFailure is what people see of a failure beside its message.
func shownFailure(e *escalation, d *liveState) value.Value {
	attempts := d.attempts
	if e.failures > 0 {
		attempts = e.failures
	}
	show := map[string]any{"attempts": float64(attempts), "kind": string(d.err.Kind), "reason": string(d.err.Reason)}
	if len(e.history) > 1 {
		list := make([]any, len(e.history))
		for i, text := range e.history {
			list[i] = text
		}
		show["history"] = list
	}
	return show
}

// acknowledge stops the time of a level, because somebody looks at it, or starts the other one.
func (m *Machine) acknowledge(r ref, a *asking, by string) {
	d, n := m.liveState(r), m.node(r)
	m.cancelWorkTimer(d)
	a.heard, a.Until = m.now, 0
	if a.afterAck > 0 {
		a.Until = m.now.Add(a.afterAck)
	}
	q := a.Ask
	m.addCommand(event.Command{Ask: &q})
	m.showTransition(event.Transition{Node: d.path, From: event.Waiting, To: event.Waiting, Attempt: d.attempts, Reason: fmt.Sprintf("%s %s it", by, event.WordAck.Past()),
		Name: n.Name, Kind: string(n.Kind), WaitsFor: &event.WaitsFor{Kind: event.WaitDecision, Name: string(q.Kind), Until: q.Until}})
	if q.Until != 0 {
		m.setTimer(r, q.Until, event.TimerWait)
	}
}

// settleEscalation does what a person has decided about a node whose attempts have failed.
func (m *Machine) settleEscalation(r ref, a *asking, word event.Word, by []string) {
	d, x, last := m.liveState(r), m.coldState(r), a.votes[len(a.votes)-1]
	m.endAsk(r, word, by, "")
	why := fmt.Sprintf("%s %s it", last.By, word.Past())
	if last.Comment != "" {
		why += ": " + last.Comment
	}
	switch {
	case word == event.WordRetry:
		x.before, x.limited = d.attempts, 0
		m.settleMember(r) // the key stays the same
		m.tryOnceMore(r, why)
	case word == event.WordSkip:
		d.err, x.by = nil, last.By
		m.finishNode(r, event.Skipped, why)
	case word == event.WordAbort:
		x.aborted, x.by = true, last.By
		m.failNode(r, &event.Error{Kind: event.Blocking, Reason: event.ReasonAborted, ExitCode: -1,
			Message: fmt.Sprintf("%s; its last attempt failed: %s", why, d.err.Message)})
	case word == event.WordOverride:
		d.output, x.by = last.Output, last.By
		if text, is := last.Output.(string); is && m.runsProgram(r) {
			d.streams = m.wholeStreams(d.streams)
			d.streams.stdout = text
		}
		m.finishNode(r, event.Succeeded, why)
	default:
		assert(false, "%s got the decision %q, which its level does not wait for", d.path, word)
	}
}

// expireLevel goes on to the next level where nobody has decided in time.
func (m *Machine) expireLevel(r ref, a *asking) {
	e, since := m.escalationOf(r), a.Since
	if a.heard != 0 {
		since = a.heard
	}
	why := m.reason(undecided, a.Until.Sub(since))
	m.endAsk(r, "", nil, "expired: "+why)
	m.showNote(r, event.Warned, fmt.Sprintf("level %q: %s", e.of.Levels[e.at].Name, why), nil)
	m.giveUp(r, "")
}

// overrideType is the type of what a person may give as the output of a node; nil if any value will do.
func (m *Machine) overrideType(r ref) *value.Type {
	n := m.node(r)
	t := compose.OutputType(n, m.agentOf(r))
	if t == nil && n.Kind == ir.Step {
		made := m.graph.Program.OutputType(n.Action)
		t = &made
	}
	return t
}

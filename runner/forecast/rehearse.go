package forecast

import (
	"errors"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/heap"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
)

// maxClock is how far the clock of a rehearsal goes: 146 years, after which there is room for the longest that a step is
// expected to take. A step takes that long where the clock was set while it ran.
const maxClock = event.Time(1 << 62)

// rehearse plays a run of a shape and gives how long it takes in microseconds; ok is false if it does not end, or not within
// maxClock.
func (s *shaper) rehearse(shape *plan.Graph, slots int) (us int64, ok bool) {
	h := &host{m: machine.New(shape, constants{}, ir.NewestRules()), took: s.took, gone: map[uint64]bool{}, now: 1}
	return h.run(event.RunStarted{Run: "forecast", Workflow: shape.Workflow.Name, Parallel: slots,
		ExpectedUS: s.x.US, ExpectedTimes: s.times})
}

// constants computes what a rehearsed workflow is made of.
type constants struct{}

var errComputed = errors.New("only constants are known here")

func (constants) Eval(e *ir.Expr, _ ir.Scope) (value.Value, error) {
	if e.Kind != ir.Const {
		return nil, errComputed
	}
	return e.Const, nil
}

func (constants) Readings(*ir.Expr, ir.Scope) string { return "" }

func (constants) Conforms(value.Value, value.Value) error { return errComputed }

// host is a host without a journal, on a clock of its own.
type host struct {
	m     *machine.Machine
	took  func(name string) int64
	now   event.Time
	seq   uint64
	next  heap.Heap[due]
	gone  map[uint64]bool // timers that were cancelled
	plans uint64
}

// due is something that will come: the answer of an attempt, or a timer.
type due struct {
	at    event.Time
	order uint64
	event event.Event
}

// Before implements heap.Heap.
func (d due) Before(other due) bool {
	return d.at < other.at || d.at == other.at && d.order < other.order
}

func (h *host) run(first event.RunStarted) (us int64, ok bool) {
	start := h.now
	end := h.step(event.Event{RunStarted: &first})
	for end == nil && len(h.next) > 0 {
		d := h.next.Pop()
		if d.event.TimerFired != nil && h.gone[d.event.TimerFired.Timer] {
			continue
		}
		if d.at < h.now || d.at > maxClock {
			return 0, false
		}
		h.now = d.at
		end = h.step(d.event)
	}
	return h.now.Sub(start).Microseconds(), end != nil
}

// step feeds one event and notes what it asks for.
func (h *host) step(ev event.Event) *event.End {
	h.seq++
	ev.Seq, ev.At = h.seq, h.now
	if h.m.Step(ev) != nil {
		return nil
	}
	var r event.Reaction
	for h.m.Advance(1<<20, &r) {
	}
	for _, c := range r.Commands {
		switch {
		case c.Start != nil:
			h.plan(h.now.Add(time.Duration(h.took(c.Start.Name))*time.Microsecond), event.Event{AttemptFinished: answer(c.Start, event.OK)})
		case c.Cancel != nil: // what it would have answered comes late, and changes nothing
			h.plan(h.now, event.Event{AttemptFinished: answer(&event.Attempt{Ticket: c.Cancel.Ticket, Node: c.Cancel.Node}, event.Failed)})
		case c.SetTimer != nil:
			h.plan(c.SetTimer.Due, event.Event{TimerFired: &event.TimerFired{Timer: c.SetTimer.Timer, Node: c.SetTimer.Node}})
		case c.CancelTimer != nil:
			h.gone[c.CancelTimer.Timer] = true
		case c.End != nil:
			return c.End
		}
	}
	return nil
}

func (h *host) plan(at event.Time, ev event.Event) {
	h.plans++
	h.next.Push(due{at, h.plans, ev})
}

func answer(a *event.Attempt, outcome event.Outcome) *event.AttemptFinished {
	return &event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Outcome: outcome}
}

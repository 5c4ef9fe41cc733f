package runner

import (
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// OnRest calls rested, once, when all that is left of a run and of the runs that it calls waits for people. It is called before the
// drive of the run, from the goroutine that saw it, and must not wait. It does nothing for a program that never asks people.
func (s *Service) OnRest(run string, p *Program, rested func()) {
	if !asksPeople(p.Program) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rests = &rests{root: run, rested: rested, runs: map[string]*rest{}}
}

// asksPeople reports whether a step of the program waits for people.
func asksPeople(p *ir.Program) bool {
	budget := func(b *ir.Budget) bool { return b != nil && b.OnExceed == ir.OnExceedAsk }
	asks := func(nodes []ir.Node) bool {
		for n := range ir.All(nodes) {
			if budget(n.Budget) || n.Action != nil && n.Action.Kind() == ir.ApproveAction {
				return true
			}
		}
		return false
	}
	for i := range p.Agents {
		if p.Agents[i].Type == ir.AgentHuman {
			return true
		}
	}
	for i := range p.Escalations {
		if slices.ContainsFunc(p.Escalations[i].Levels, func(l ir.Level) bool { return l.Await != nil }) {
			return true
		}
	}
	for i := range p.Workflows {
		w := &p.Workflows[i]
		if budget(w.Budget) || asks(w.Nodes) || w.Finally != nil && asks(w.Finally.Nodes) {
			return true
		}
	}
	return false
}

// rests watches a run, and the runs that it calls.
type rests struct {
	root   string
	rested func() // nil after the call
	runs   map[string]*rest
}

// rest is what a run waits for.
type rest struct {
	flying map[uint64]bool       // attempts
	timers map[uint64]bool       // those after which something goes on by itself
	bounds map[uint64]event.Time // when the other timers are due: bounds of what waits
	at     event.Time            // when the last event happened
	waits  map[string]bool       // nodes that wait for something else than people
	asks   map[string]bool       // nodes that wait for people
	calls  map[string]bool       // runs
}

// see takes in a batch of a run. A decision may follow what is replayed. The caller holds s.mu.
func (r *rests) see(run string, events []event.Event, out *event.Reaction, replayed bool) {
	x := r.runs[run]
	if x == nil {
		x = &rest{flying: map[uint64]bool{}, timers: map[uint64]bool{}, bounds: map[uint64]event.Time{}, waits: map[string]bool{}, asks: map[string]bool{},
			calls: map[string]bool{}}
		r.runs[run] = x
	}
	for i := range events {
		x.at = max(x.at, events[i].At)
		switch ev := &events[i]; {
		case ev.AttemptFinished != nil:
			delete(x.flying, ev.AttemptFinished.Ticket)
		case ev.TimerFired != nil:
			delete(x.timers, ev.TimerFired.Timer)
			delete(x.bounds, ev.TimerFired.Timer)
		case ev.ChildFinished != nil:
			delete(x.calls, ev.ChildFinished.Run)
			delete(r.runs, ev.ChildFinished.Run)
		case ev.DriverChanged != nil:
			clear(x.flying)
			clear(x.calls)
		}
	}
	for i := range out.Transitions {
		t := &out.Transitions[i]
		if t.Note != "" || t.Gate != nil {
			continue
		}
		if t.To == event.Waiting && t.WaitsFor != nil && t.WaitsFor.Kind != event.WaitDecision {
			x.waits[t.Node] = true
		} else {
			delete(x.waits, t.Node)
		}
	}
	for i := range out.Commands {
		switch c := &out.Commands[i]; {
		case c.Start != nil:
			x.flying[c.Start.Ticket] = true
		case c.Ask != nil:
			x.asks[c.Ask.Node] = true
		case c.EndAsk != nil:
			delete(x.asks, c.EndAsk.Node)
		case c.SetTimer != nil && goesOn(c.SetTimer, x):
			x.timers[c.SetTimer.Timer] = true
		case c.SetTimer != nil:
			x.bounds[c.SetTimer.Timer] = c.SetTimer.Due
		case c.CancelTimer != nil:
			delete(x.timers, c.CancelTimer.Timer)
			delete(x.bounds, c.CancelTimer.Timer)
		case c.StartChild != nil:
			x.calls[c.StartChild.Run] = true
		}
	}
	if r.rested != nil && !replayed && r.isResting(r.root) {
		rested := r.rested
		r.rested = nil
		rested()
	}
}

// goesOn reports whether something other than the default of an ask happens when a timer fires. Bounds of what waits do not count.
func goesOn(t *event.SetTimer, x *rest) bool {
	switch t.Purpose {
	case event.TimerWait:
		return !x.asks[t.Node]
	case event.TimerBackoff, event.TimerRepeat, event.TimerRefused:
		return true
	case event.TimerTimeout, event.TimerDeadline, event.TimerProgress, event.TimerFinally, event.TimerAdapt, event.TimerIdle, event.TimerHeartbeat:
	}
	return false
}

// isResting reports whether all that is left of a run waits for people. A bound that is due has yet to be met: the drive begins with it.
func (r *rests) isResting(run string) bool {
	x := r.runs[run]
	if x == nil || len(x.flying)+len(x.timers)+len(x.waits) > 0 || len(x.asks)+len(x.calls) == 0 {
		return false
	}
	for _, due := range x.bounds { // any order
		if due <= x.at {
			return false
		}
	}
	for call := range x.calls { // any order: all of them must rest
		if !r.isResting(call) {
			return false
		}
	}
	return true
}

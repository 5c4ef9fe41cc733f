package sim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// turn is the place of a run of a group in its line, from its start to its end. The order of Store.turns is that of the lines.
// The rules are those of engine/local.
type turn struct {
	engine.Place
	process int64 // that has it; 0: none
	waits   bool  // a driver waits for the turn
}

// groupBusy refuses the start of a run that skips instead of waiting.
type groupBusy struct{ reason string }

func (b *groupBusy) Error() string { return b.reason }

func (s *Store) findTurn(run string) *turn {
	at := slices.IndexFunc(s.turns, func(t *turn) bool { return t.Run == run })
	if at < 0 {
		return nil
	}
	return s.turns[at]
}

// callers are a run and all runs above it, the nearest first.
func (s *Store) callers(run string) (list []string) {
	for run != "" {
		list = append(list, run)
		known := s.runs[run]
		if known == nil {
			break
		}
		run = known.start.First.Parent
	}
	return list
}

// lineOf returns the line of a run of a group.
func (s *Store) lineOf(group, caller string) engine.Line {
	line := engine.Line{Group: group}
	for _, run := range s.callers(caller) {
		if t := s.findTurn(run); t != nil && t.Group == group {
			line.Shares = run
			break
		}
	}
	return line
}

// runAhead returns the run that a run waits for: the nearest before it that a living process has, or else the run that has the turn.
// A run that has its turn goes past the runs before it. "" means that it is the run's turn.
func (s *Store) runAhead(t *turn) string {
	at := slices.Index(s.turns, t)
	switch {
	case t.Holds:
		at = 0
	case at < 0: // it is not in the line yet
		at = len(s.turns)
	}
	inFront := func(o *turn) bool { return o != t && o.Line == t.Line && s.alive[o.process] }
	for i := at - 1; i >= 0; i-- {
		if inFront(s.turns[i]) {
			return s.turns[i].Run
		}
	}
	for _, o := range s.turns[at:] {
		if o.Holds && inFront(o) {
			return o.Run
		}
	}
	return ""
}

// enterLine decides whether a new run of a group starts, waits or is refused. cancelled are the runs that give way to it. Errors
// that refuse the run: *groupBusy, *engine.Deadlock.
func (e *Engine) enterLine(g engine.Group, run, caller string) (t *turn, cancelled []string, err error) {
	t = &turn{Place: engine.Place{Line: e.lineOf(g.Name, caller), Run: run, Caller: caller}, process: e.register()}
	ahead := e.runAhead(t)
	t.Holds = ahead == ""
	switch {
	case t.Holds:
	case g.WhenBusy == engine.Skip:
		return nil, nil, &groupBusy{g.SkipReason(ahead)}
	case g.WhenBusy == engine.CancelPrevious:
		for _, o := range e.turns {
			if o.Line == t.Line && !e.runs[o.Run].ended {
				cancelled = append(cancelled, o.Run)
			}
		}
	default:
		if d := e.findDeadlock(t); d != nil {
			return nil, nil, d
		}
	}
	return t, cancelled, nil
}

func (s *Store) findDeadlock(t *turn) *engine.Deadlock {
	var others []engine.Place
	for _, o := range s.turns {
		if o.Run != t.Run && s.alive[o.process] && s.runs[o.Run].cancels == 0 {
			others = append(others, o.Place)
		}
	}
	return engine.FindDeadlock(t.Place, others, func(run string) map[string]bool {
		all := map[string]bool{}
		for _, above := range s.callers(run) {
			all[above] = true
		}
		return all
	})
}

// joinLine makes this process the one that waits for a run's turn, or has it. It reports whether the run need not wait: it takes no
// turns, its turn has come, or it is cancelled.
func (e *Engine) joinLine(run string) (in bool, err error) {
	t := e.findTurn(run)
	if t == nil || e.runs[run].ended {
		return true, nil
	}
	if t.waits && t.process != e.epoch && e.alive[t.process] {
		return false, fmt.Errorf("%w: run %s, which waits there for its turn in the group %q", engine.ErrOwned, run, t.Group)
	}
	holds, in := e.runAhead(t) == "", e.turnCame(t)
	var d *engine.Deadlock
	if !in {
		waiting := *t
		waiting.Holds = false
		if d = e.findDeadlock(&waiting); d != nil { // the run is there and must come to its end
			in = true
		}
	}
	if t.process != e.epoch || t.Holds != holds || t.waits == in { // the store changes
		err = e.commit(func() { t.process, t.Holds, t.waits = e.epoch, holds, !in })
	}
	if err == nil && d != nil {
		err = e.wish(run, engine.Wish{Cancels: 1, Reason: d.Error()})
	}
	return in, err
}

// turnCame reports whether a run need not wait for its turn any more: the turn has come, or the run is cancelled.
func (s *Store) turnCame(t *turn) bool {
	run, begun := s.runs[t.Run], 0
	if len(run.batches) > 0 {
		begun = 1
	}
	return run.cancels > begun || s.runAhead(t) == ""
}

// leaveLine lets the next run in. A run keeps its place until it has ended.
func (e *Engine) leaveLine(run string) {
	t := e.findTurn(run)
	if t == nil || t.process != e.epoch {
		return
	}
	_ = e.commit(func() {
		if e.runs[run].ended {
			e.turns = slices.DeleteFunc(e.turns, func(o *turn) bool { return o == t })
			return
		}
		t.process, t.Holds, t.waits = 0, false, false
	})
}

// startInGroup is Start for a run of a group, which may be none.
func (e *Engine) startInGroup(s engine.Start, g engine.Group) error {
	var t *turn
	var cancelled []string
	if g.Name != "" {
		var err error
		t, cancelled, err = e.enterLine(g, s.Header.Run, s.First.Parent)
		if busy := (*groupBusy)(nil); errors.As(err, &busy) {
			s.First.Skip = busy.reason
			return e.startInGroup(s, engine.Group{})
		}
		if err != nil {
			return err
		}
	}
	made, err := e.makeRun(s, t == nil || t.Holds)
	if err != nil {
		return err
	}
	cancel, err := engine.PackExternal(event.External{Kind: event.ExternalCancel, Reason: g.CancelReason()}, nil)
	if err != nil {
		return err
	}
	return e.commit(func() {
		e.runs[s.Header.Run] = made
		if t != nil {
			e.turns = append(e.turns, t)
		}
		for _, run := range cancelled {
			if e.runs[run].cancels == 0 {
				e.runs[run].post(cancel)
			}
		}
	})
}

package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/runner/admission"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

// Runs of groups take turns by the rules of package admission. Store.turns has one request for each run of a group, from its start
// to its end. The request is granted when the run's turn has come, and lapses when no process has the run.

// groupBusy refuses the start of a run that skips instead of waiting.
type groupBusy struct{ reason string }

func (b *groupBusy) Error() string { return b.reason }

// findTurn returns the request of a run for its turn; nil if the run takes none, or has left its line.
func (s *Store) findTurn(run string) *admission.Request { return s.turns.Find(run) }

// callers are a run and all runs above it, the nearest first.
func (s *Store) callers(run string) (list []string) {
	for run != "" {
		list = append(list, run)
		known := s.runs[run]
		if known == nil {
			break
		}
		run = known.Start.First.Parent
	}
	return list
}

// lineOf returns the line of a run of a group.
func (s *Store) lineOf(group, caller string) engine.Line {
	line := engine.Line{Group: group}
	for _, run := range s.callers(caller) {
		if s.findTurn(run) != nil && s.runs[run].group.Group == group {
			line.Shares = run
			break
		}
	}
	return line
}

// runAhead returns the run that a run waits for; "" if its turn has come.
func (s *Store) runAhead(r *admission.Request) string {
	if ahead := s.turns.FindAhead(r.Key); ahead != nil {
		return ahead.Run
	}
	return ""
}

// entry is the way of a new run of a group into its line.
type entry struct {
	line      engine.Line
	turns     *admission.State // with the new run
	turn      bool             // nobody is before it
	cancelled []string         // the runs that give way to it
}

// enterLine decides whether a new run of a group starts, waits or is refused. Errors that refuse the run: *groupBusy,
// *engine.Deadlock.
func (e *Engine) enterLine(g engine.Group, run, caller string) (n entry, err error) {
	e.entered++
	n = entry{line: e.lineOf(g.Name, caller), turns: e.turns.Clone()}
	need := n.line.Need()
	ask := admission.Request{Key: run, Run: run, Driver: e.register(), Order: e.entered, Needs: []event.Need{need}}
	a, err := n.turns.Apply(admission.Operation{Ask: &ask}, e.now)
	if n.turn = a.Verdict == admission.Granted; err != nil || n.turn {
		return n, err
	}
	switch g.WhenBusy {
	case engine.Skip:
		return n, &groupBusy{g.SkipReason(n.turns.FindAhead(run).Run)}
	case engine.CancelPrevious:
		for _, r := range e.turns.Requests() {
			if r.Needs[0] == need && !e.runs[r.Run].ended {
				n.cancelled = append(n.cancelled, r.Run)
			}
		}
	case engine.Queue:
		if d := e.findDeadlock(n.line, run, caller); d != nil {
			return n, d
		}
	}
	return n, nil
}

// findDeadlock returns a Deadlock if the wait of a called run for its turn would close a circle, and else nil.
func (s *Store) findDeadlock(in engine.Line, run, caller string) *engine.Deadlock {
	if caller == "" {
		return nil // a run at the top closes no circle
	}
	callers := map[string]bool{}
	for _, above := range s.callers(caller) {
		callers[above] = true
	}
	d, _ := engine.FindDeadlock(in, callers, waits{s, run})
	return d
}

// waits implements engine.Waits, without errors.
type waits struct {
	*Store
	but string
}

// Holders implements engine.Waits.
func (w waits) Holders(in engine.Line) (runs []string, _ error) {
	for _, r := range w.turns.Requests() {
		if w.counts(r) && r.Granted && w.runs[r.Run].group == in {
			runs = append(runs, r.Run)
		}
	}
	return runs, nil
}

// Below implements engine.Waits.
func (w waits) Below(run string) (lines []engine.Line, _ error) {
	for _, r := range w.turns.Requests() {
		if w.counts(r) && !r.Granted && slices.Contains(w.callers(r.Run)[1:], run) {
			lines = append(lines, w.runs[r.Run].group)
		}
	}
	return lines, nil
}

func (w waits) counts(r *admission.Request) bool {
	return r.Run != w.but && !r.Lapsed && w.runs[r.Run].Inbox.Cancels == 0
}

// joinLine makes this process the one that waits for a run's turn, or has it. It reports whether the run need not wait: it takes no
// turns, its turn has come, or it is cancelled. A cancelled run leaves its line.
func (e *Engine) joinLine(run string) (in bool, err error) {
	before, s := e.findTurn(run), e.runs[run]
	if before == nil || s.ended {
		return true, nil
	}
	if s.queued && before.Driver != e.epoch && !before.Lapsed {
		return false, fmt.Errorf("%w: run %s, which waits there for its turn in the group %q", engine.ErrOwned, run, s.group.Group)
	}
	ask, turns := *before, e.turns.Clone()
	ask.Driver = e.epoch
	if _, err = turns.Apply(admission.Operation{Ask: &ask}, e.now); err != nil {
		return false, err
	}
	var d *engine.Deadlock
	if in = turns.Find(run).Granted || s.cancelledInLine(); !in {
		d = e.findDeadlock(s.group, run, s.Start.First.Parent)
		in = d != nil // the run is there and must come to its end
	}
	if in && !turns.Find(run).Granted {
		if _, err = turns.Apply(admission.Operation{Lapse: []string{run}}, e.now); err != nil {
			return false, err
		}
	}
	if after := turns.Find(run); s.queued == in || after.Driver != before.Driver || after.Granted != before.Granted || after.Lapsed != before.Lapsed {
		err = e.commit(func() {
			e.turns, s.queued = turns, !in
			e.changes++
		})
	}
	if err == nil && d != nil {
		err = e.wish(run, engine.Wish{Cancels: 1, Reason: d.Error()})
	}
	return in, err
}

// cancelledInLine reports whether a run that waits for its turn is cancelled, so that nothing of it is executed.
func (s *stored) cancelledInLine() bool { return s.Inbox.Cancels > min(len(s.Batches), 1) }

// turnCame reports whether a run need not wait for its turn any more: the turn has come, or the run is cancelled.
func (s *Store) turnCame(r *admission.Request) bool {
	return r.Granted || s.runs[r.Run].cancelledInLine()
}

// leaveLine lets the next run in. A run keeps its place until it has ended.
func (e *Engine) leaveLine(run string) {
	if r := e.findTurn(run); r == nil || r.Driver != e.epoch {
		return
	}
	_ = e.commit(func() { e.leaveLines(func(r *admission.Request) bool { return r.Run == run }) })
}

// leaveLines takes the requests that match out of their lines: those of ended runs are removed, the others lapse.
func (s *Store) leaveLines(match func(*admission.Request) bool) {
	s.changes++
	ended, left := []string{}, []string{}
	for _, r := range s.turns.Requests() {
		switch run := s.runs[r.Run]; {
		case !match(r):
		case run.ended:
			ended = append(ended, r.Key)
		default:
			run.queued = false
			left = append(left, r.Key)
		}
	}
	for _, op := range []admission.Operation{{Remove: ended}, {Lapse: left}} {
		if _, err := s.turns.Apply(op, s.now); err != nil {
			panic(err) // the operations are complete
		}
	}
}

// startInGroup is Start for a run of a group, which may be none.
func (e *Engine) startInGroup(s engine.Start, g engine.Group) error {
	var n entry
	if g.Name != "" {
		var err error
		n, err = e.enterLine(g, s.Header.Run, s.First.Parent)
		if busy := (*groupBusy)(nil); errors.As(err, &busy) {
			s.First.Skip = busy.reason
			return e.startInGroup(s, engine.Group{})
		}
		if err != nil {
			return err
		}
	}
	made, err := e.makeRun(s, n.turns == nil || n.turn)
	if err != nil {
		return err
	}
	names, err := engine.EventsOf(e.opts.Events, &s)
	if err != nil {
		return err
	}
	made.group = n.line
	var unheard error
	err = e.commit(func() {
		e.runs[s.Header.Run] = made
		e.changes++
		unheard = shared.ApplyAsks(&e.shared, s.Header.Run, made.asks, e.wall())
		unheard = errors.Join(unheard, shared.NoteRest(&e.shared, s.Header.Run, made.rest))
		made.asks = nil
		for _, name := range names {
			unheard = errors.Join(unheard, shared.Listen(&e.shared, name, s.Header.Run))
		}
		if n.turns != nil {
			e.turns = n.turns
		}
		for _, run := range n.cancelled {
			unheard = errors.Join(unheard, e.runs[run].Inbox.CancelUpTo(engine.Wish{Cancels: 1, Reason: g.CancelReason()}))
		}
	})
	return cmp.Or(err, unheard)
}

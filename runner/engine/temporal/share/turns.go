package share

import (
	"cmp"
	"slices"

	"github.com/flowrun/flowrun/runner/admission"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

// Runs of a group take turns by the rules of package admission. Each run has a request from its beginning to its end, which is granted when its
// turn has come.

// enter lets a run hear of its events, and take its turn.
func (s *store) enter(e *wire.Enter) (reply wire.Reply, err error) {
	known := s.entered[e.Run]
	if e.Gone {
		if known != nil && known.Reserves {
			err = s.leave(e.Run)
		}
		return reply, err
	}
	if known != nil && (!known.Reserves || e.Reserves) { // it asks again
		reply.Behind = s.behind(e.Run)
		return reply, nil
	}
	for _, name := range e.Events {
		missed, _, err := shared.Subscribe(&s.rows, name, e.Run, e.Began, s.now)
		if err != nil {
			return reply, err
		}
		for i := range missed {
			s.post(shared.Post{Run: e.Run, External: missed[i].External(name)})
		}
	}
	if known != nil {
		known.Reserves, reply.Behind = false, s.behind(e.Run)
		return reply, nil
	}
	if e.Group.Name == "" {
		s.entered[e.Run] = e
		return reply, nil
	}
	if s.crowded {
		return reply, errCrowded
	}
	line := s.lineOf(e)
	ask := admission.Request{Key: e.Run, Run: e.Run, Driver: 1, Order: int64(cmp.Or(e.Began, s.now)), Needs: []event.Need{line.Need()}}
	before := s.turns.Clone()
	a, err := s.turns.Apply(admission.Operation{Ask: &ask}, s.now)
	if err != nil {
		return reply, err
	}
	s.entered[e.Run] = e
	if a.Verdict == admission.Granted {
		return reply, nil
	}
	switch reply.Behind = s.behind(e.Run); e.Group.WhenBusy {
	case engine.Skip:
		s.turns, reply.Skip, reply.Behind = before, e.Group.SkipReason(reply.Behind), ""
		delete(s.entered, e.Run)
	case engine.CancelPrevious:
		for _, r := range before.Requests() {
			if r.Needs[0] == ask.Needs[0] && !r.Refused {
				r = s.turns.Find(r.Key)
				r.Refused = true // it is cancelled once
				s.post(shared.Post{Run: r.Run, External: event.External{Kind: event.ExternalCancel, Reason: e.Group.CancelReason()}})
			}
		}
	case engine.Queue:
		d, err := s.findDeadlock(line, e)
		if err != nil {
			return reply, err
		}
		if d != nil {
			s.turns, reply.Deadlock, reply.Behind = before, d, ""
			delete(s.entered, e.Run)
		}
	}
	return reply, nil
}

// behind returns the run that a run waits for; "" if its turn has come.
func (s *store) behind(run string) string {
	if ahead := s.turns.FindAhead(run); ahead != nil {
		return ahead.Run
	}
	return ""
}

// lineOf returns the line of a run of a group.
func (s *store) lineOf(e *wire.Enter) engine.Line {
	line := engine.Line{Group: e.Group.Name}
	for _, run := range e.Callers {
		if caller := s.entered[run]; caller != nil && caller.Group.Name == e.Group.Name && s.turns.Find(run) != nil {
			line.Shares = run
			break
		}
	}
	return line
}

// findDeadlock returns a Deadlock if the wait of a called run would close a circle.
func (s *store) findDeadlock(in engine.Line, e *wire.Enter) (*engine.Deadlock, error) {
	if len(e.Callers) == 0 {
		return nil, nil // a run at the top closes no circle
	}
	callers := map[string]bool{}
	for _, run := range e.Callers {
		callers[run] = true
	}
	return engine.FindDeadlock(in, callers, waits{s, e.Run})
}

// waits implements engine.Waits.
type waits struct {
	*store
	but string
}

// Holders implements engine.Waits.
func (w waits) Holders(in engine.Line) (runs []string, _ error) {
	for _, r := range w.turns.Requests() {
		if w.counts(r) && r.Granted && r.Needs[0] == in.Need() {
			runs = append(runs, r.Run)
		}
	}
	return runs, nil
}

// Below implements engine.Waits.
func (w waits) Below(run string) (lines []engine.Line, _ error) {
	for _, r := range w.turns.Requests() {
		if e := w.entered[r.Run]; e != nil && w.counts(r) && !r.Granted && slices.Contains(e.Callers, run) {
			lines = append(lines, w.lineOf(e))
		}
	}
	return lines, nil
}

func (w waits) counts(r *admission.Request) bool { return r.Run != w.but && !r.Refused }

// leave takes a run that has ended out of its line, and tells the next one.
func (s *store) leave(run string) error {
	delete(s.entered, run)
	if s.turns.Find(run) == nil {
		return nil
	}
	a, err := s.turns.Apply(admission.Operation{Remove: []string{run}}, s.now)
	for _, r := range a.Granted {
		s.grant(r.Run, wire.Grant{At: s.now})
	}
	return err
}

// inLine lists the runs that wait for their turns.
func (s *store) inLine() (list []wire.InLine) {
	for _, r := range s.turns.Requests() {
		if e := s.entered[r.Run]; e != nil && !r.Granted {
			list = append(list, wire.InLine{Run: r.Run, Group: e.Group.Name, Behind: s.behind(r.Run)})
		}
	}
	return list
}

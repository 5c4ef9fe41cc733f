package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// Outlook is the settings of a drive that is only predicted.
type Outlook struct {
	Now        event.Time
	TakeOver   bool // take the run from a process that drives it
	DeathLimit int  // as a driver has it; 0 means the default
}

// Prospect predicts what a driver of a run would do first. It replays the run and tells the machine of a new driver, without claiming
// the run: nothing is written.
func (s *Service) Prospect(ctx context.Context, info engine.Info, o Outlook) (*view.Prospect, error) {
	p := &view.Prospect{Run: info.Run, Workflow: info.Workflow, Status: info.Status, Driver: info.Driver, Crashed: info.Crashed, Would: []view.Intent{}}
	if info.Status.Terminal() || info.Driver != 0 && !o.TakeOver {
		return p, nil
	}
	out, past, err := s.tryDriver(ctx, info, &o)
	if err != nil {
		return nil, err
	}
	for i := range out.Transitions {
		if t := &out.Transitions[i]; t.To.Terminal() {
			p.Would = append(p.Would, view.Intent{Does: "end", Run: info.Run, Node: t.Node, Status: t.To, Reason: endReason(t)})
		}
	}
	unwanted := engine.Unwanted(out.Commands)
	for i := range out.Commands {
		switch c := &out.Commands[i]; {
		case c.Start != nil && !unwanted[c.Start.Ticket]:
			p.Would = append(p.Would, view.Intent{Does: "start", Run: info.Run, Node: c.Start.Node, Attempt: c.Start.Attempt,
				Gate: c.Start.Gate, Compensate: c.Start.Compensate})
		case c.StartChild != nil:
			below, err := s.prospectOfChild(ctx, info.Run, c.StartChild, &o)
			if err != nil {
				return nil, err
			}
			p.Would = append(p.Would, below...)
		}
	}
	for _, t := range past.Timers() {
		p.Would = append(p.Would, view.Intent{Does: "wait", Run: info.Run, Node: t.Node, Reason: string(t.Purpose), Due: view.Moment(t.Due), Overdue: t.Due <= o.Now})
	}
	return p, nil
}

// endReason explains in words why a node would end.
func endReason(t *event.Transition) string {
	if t.Reason == "" && t.Result != nil && t.Result.Error != nil {
		return t.Result.Error.Message
	}
	return t.Reason
}

// tryDriver replays a run and feeds its machine the inputs of the next driver: the events of the inbox,
// and the change of driver. A run that was never driven gives its beginning, which is still to be
// carried out.
func (s *Service) tryDriver(ctx context.Context, info engine.Info, o *Outlook) (*event.Reaction, *Past, error) {
	p, err := s.Past(ctx, info.Run)
	if err != nil {
		return nil, nil, err
	}
	begin := &event.Reaction{}
	err = p.Replay(ctx, func(e Seen) bool {
		begin = &event.Reaction{Commands: append(begin.Commands, e.Caused.Commands...)}
		return true
	})
	if err != nil {
		return nil, nil, err
	}
	asked, err := s.Inbox(ctx, info.Run)
	waits := p.Seq() == 0 // for its turn in a group
	if err != nil || info.Status == event.Pending && asked == nil && !waits {
		return begin, p, err
	}
	var events []event.Event
	if waits {
		first, err := p.First()
		if err != nil {
			return nil, nil, err
		}
		events = append(events, event.Event{RunStarted: first})
	}
	for i := range asked {
		events = append(events, event.Event{External: &asked[i]})
	}
	if !waits {
		events = append(events, event.Event{DriverChanged: &event.DriverChanged{Lost: info.Crashed, Since: p.Last(),
			DeathLimit: o.DeathLimit}})
	}
	out := &event.Reaction{}
	err = p.Feed(o.Now, events, out)
	return out, p, err
}

// prospectOfChild predicts the next actions of a run that its caller would call again.
func (s *Service) prospectOfChild(ctx context.Context, run string, c *event.StartChild, o *Outlook) ([]view.Intent, error) {
	call := view.Intent{Does: "call", Run: run, Node: c.Node, Child: c.Run}
	info, err := s.Get(ctx, c.Run)
	if errors.Is(err, engine.ErrNoRun) {
		call.Reason = "it has not begun"
		return []view.Intent{call}, nil
	}
	if err != nil {
		return nil, err
	}
	below, err := s.Prospect(ctx, info, *o)
	if err != nil {
		return nil, err
	}
	call.Status, call.Reason = info.Status, fmt.Sprintf("it is %s", info.Status)
	return append([]view.Intent{call}, below.Would...), nil
}

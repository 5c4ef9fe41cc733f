package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// dryRun prints the actions that resume would take. It replays the run and tells the machine of a
// new driver, without claiming the run.
func (a *app) dryRun(ctx context.Context, s *store, info engine.Info, r *args.Resume) error {
	if !info.Status.Terminal() {
		first, p, err := s.Beginning(ctx, info.Run)
		if err == nil {
			err = s.Reseal(ctx, info.Run, first)
		}
		if err == nil {
			_, _, err = a.findSecrets(info.Run, first, p.Program, &r.Given, renewal{names: r.NewSecrets}) // resume would need these secrets
		}
		if err != nil {
			return err
		}
	}
	o := &outlook{store: s, now: event.At(time.Now()), drive: r.Drive}
	p, err := o.of(ctx, info)
	if err != nil {
		return err
	}
	p.Workflow = info.Workflow
	if r.JSON {
		return ui.WriteJSON(a.out, p)
	}
	ui.ShowProspect(a.out, p, o.now)
	a.sayChanged(s, info)
	return nil
}

// outlook predicts the next actions of a run and of the runs that it calls.
type outlook struct {
	store *store
	now   event.Time
	drive args.Drive
}

// of returns the first actions of a run's next driver.
func (o *outlook) of(ctx context.Context, info engine.Info) (*ui.Prospect, error) {
	p := &ui.Prospect{Run: info.Run, Workflow: info.Workflow, Status: info.Status, Driver: info.Driver, Crashed: info.Crashed, Would: []ui.Intent{}}
	if info.Status.Terminal() || info.Driver != 0 && !o.drive.TakeOver {
		return p, nil
	}
	out, past, err := o.wake(ctx, info)
	if err != nil {
		return nil, err
	}
	for i := range out.Transitions {
		if t := &out.Transitions[i]; t.To.Terminal() {
			p.Would = append(p.Would, ui.Intent{Does: "end", Run: info.Run, Node: t.Node, Status: t.To, Reason: reasonOf(t)})
		}
	}
	unwanted := engine.Unwanted(out.Commands)
	for i := range out.Commands {
		switch c := &out.Commands[i]; {
		case c.Start != nil && !unwanted[c.Start.Ticket]:
			p.Would = append(p.Would, ui.Intent{Does: "start", Run: info.Run, Node: c.Start.Node, Attempt: c.Start.Attempt,
				Gate: c.Start.Gate, Compensate: c.Start.Compensate})
		case c.StartChild != nil:
			below, err := o.child(ctx, info.Run, c.StartChild)
			if err != nil {
				return nil, err
			}
			p.Would = append(p.Would, below...)
		}
	}
	for _, t := range past.Timers() {
		p.Would = append(p.Would, ui.Intent{Does: "wait", Run: info.Run, Node: t.Node, Reason: string(t.Purpose), Due: view.Moment(t.Due), Overdue: t.Due <= o.now})
	}
	return p, nil
}

// reasonOf explains in words why a node would end.
func reasonOf(t *event.Transition) string {
	if t.Reason == "" && t.Result != nil && t.Result.Error != nil {
		return t.Result.Error.Message
	}
	return t.Reason
}

// wake replays a run and feeds its machine the inputs of the next driver: the events of the inbox,
// and the change of driver. A run that was never driven gives its beginning, which is still to be
// carried out.
func (o *outlook) wake(ctx context.Context, info engine.Info) (*event.Reaction, *runner.Past, error) {
	p, err := o.store.Past(ctx, info.Run)
	if err != nil {
		return nil, nil, err
	}
	begin := &event.Reaction{}
	err = p.Replay(ctx, func(e runner.Seen) bool {
		begin = &event.Reaction{Commands: append(begin.Commands, e.Caused.Commands...)}
		return true
	})
	if err != nil {
		return nil, nil, err
	}
	asked, err := o.store.Inbox(ctx, info.Run)
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
			DeathLimit: o.drive.DeathLimit}})
	}
	out := &event.Reaction{}
	err = p.Feed(o.now, events, out)
	return out, p, err
}

// child predicts the next actions of a run that its caller would call again.
func (o *outlook) child(ctx context.Context, run string, c *event.StartChild) ([]ui.Intent, error) {
	call := ui.Intent{Does: "call", Run: run, Node: c.Node, Child: c.Run}
	info, err := o.store.Get(ctx, c.Run)
	if errors.Is(err, engine.ErrNoRun) {
		call.Reason = "it has not begun"
		return []ui.Intent{call}, nil
	}
	if err != nil {
		return nil, err
	}
	below, err := o.of(ctx, info)
	if err != nil {
		return nil, err
	}
	call.Status, call.Reason = info.Status, fmt.Sprintf("it is %s", info.Status)
	return append([]ui.Intent{call}, below.Would...), nil
}

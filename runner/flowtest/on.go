package flowtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/secret"
	"github.com/flowrun/flowrun/runner/journal"
)

// testedProgram names the program of a test in its store.
const testedProgram = "/program"

// register registers what starts runs of the program by itself.
func (t *test) register(ctx context.Context) error {
	if len(t.program.Ons)+len(t.program.Routines) == 0 {
		return nil
	}
	r := &event.RegisterRequest{Program: testedProgram, Definition: t.program.hash, Hash: t.program.hash}
	for i := range t.program.Ons {
		r.Ons = append(r.Ons, event.Subscribed{Event: t.program.Ons[i].Event, Workflow: t.program.Ons[i].Workflow})
	}
	for i := range t.program.Routines {
		spec, err := json.Marshal(&t.program.Routines[i])
		if err != nil {
			return err
		}
		r.Routines = append(r.Routines, event.Scheduled{Name: t.program.Routines[i].Name, Spec: string(spec)})
	}
	if _, err := t.host.Ask(ctx, event.StoreRequest{Register: r}); err != nil {
		return err
	}
	return t.awaitRoutines(ctx)
}

// starts reports whether an event of a name can start a run.
func (t *test) starts(name string) bool {
	return slices.ContainsFunc(t.program.Ons, func(on ir.On) bool { return slices.Contains(ir.EventPatterns(name), on.Event) })
}

// startDue starts the runs that events are to start.
func (t *test) startDue(ctx context.Context) error {
	v, err := t.host.Ask(ctx, event.StoreRequest{Due: &event.DueRequest{}})
	if err != nil {
		return err
	}
	a, err := event.ReadDue(v)
	if err != nil {
		return err
	}
	done := make([]event.Delivered, len(a.Due))
	for i := range a.Due {
		d := &a.Due[i]
		done[i].Due = d.Due
		if d.Event == nil {
			done[i].Dead = "the event is too old"
			continue
		}
		t.delivered[d.Event.ID] = true
		first, no, err := t.triggers(d)
		switch {
		case err != nil:
			return err
		case no != nil:
			done[i].Dead = no.Error()
		case first != nil:
			done[i].Run = engine.RunIDOf(d.Identity()...)
			if err := t.trigger(ctx, done[i].Run, first); err != nil {
				return err
			}
		}
	}
	_, err = t.host.Ask(ctx, event.StoreRequest{Started: &event.StartedRequest{Done: done}})
	return err
}

// triggers is the first event of the run that an event starts; nil if its condition does not hold. no says why the event cannot start it.
func (t *test) triggers(d *event.Due) (first *event.RunStarted, no, err error) {
	on := t.program.Subscription(d.Subscription, d.Workflow)
	g, err := t.program.graph(d.Workflow)
	if err != nil {
		return nil, nil, err
	}
	data, err := value.Decode(d.Event.Data)
	if err != nil {
		return nil, nil, err
	}
	secrets := t.sensitive(d.Workflow, nil)
	first = &event.RunStarted{Workflow: d.Workflow, FirstMembers: true, Dir: "/", Vars: open(t.program.Variables, t.Vars), Secrets: seals(secrets)}
	inputs, fits, no := compose.New(g, t.program.eval, first).Triggered(on, data)
	if no != nil || !fits {
		return nil, no, nil
	}
	first.Inputs, first.Cause = inputs, d.Event.Cause()
	return first, nil, nil
}

// triggered begins the paths of nodes of the runs that events and routines start.
const triggered = "on:"

// trigger makes a run that an event starts, and lets the host drive it. It does nothing for a run that is there.
func (t *test) trigger(ctx context.Context, run string, first *event.RunStarted) error {
	if t.runs[run] != nil {
		return nil
	}
	_, err := t.host.Start(ctx, engine.Start{Header: journal.Header{Run: run, Behaviour: ir.Behaviour, Definition: t.program.hash, Workflow: first.Workflow},
		Definition: t.program.definition, First: *first})
	if err != nil {
		return err
	}
	first.Run = run
	s := t.newSeen(first, "", "")
	s.prefix = triggered + first.Workflow + "/"
	if n := t.triggered[first.Workflow]; n > 0 {
		s.prefix = fmt.Sprintf("%s%s[%d]/", triggered, first.Workflow, n)
	}
	t.triggered[first.Workflow]++
	s.secrets = t.sensitive(first.Workflow, nil)
	s.first = first
	t.order = append(t.order, s)
	t.runs[run] = s
	x := secret.New(executor.Func(t.answer), nil)
	x.Hold(s.secrets, t.program.eval)
	t.secrets[run] = x
	t.host.Add(run)
	return nil
}

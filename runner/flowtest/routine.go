package flowtest

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
)

// hasRoutines reports whether routines start runs in the test: they do in one that says how long it takes. Otherwise it would have no end.
func (t *test) hasRoutines() bool { return len(t.program.Routines) > 0 && t.RunFor > 0 }

// awaitRoutines lets the next routine start its run when it is due.
func (t *test) awaitRoutines(ctx context.Context) error {
	if !t.hasRoutines() {
		return nil
	}
	v, err := t.host.Ask(ctx, event.StoreRequest{Routine: &event.RoutineRequest{Operation: event.RoutineNext}})
	text, _ := v.(string)
	if err != nil || text == "" {
		return err
	}
	at, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return err
	}
	t.host.Schedule(sim.Moment{At: event.Time(at), Do: func() error {
		if err := t.startRoutines(ctx); err != nil {
			return err
		}
		return t.awaitRoutines(ctx)
	}})
	return nil
}

// startRoutines starts the runs whose time has come.
func (t *test) startRoutines(ctx context.Context) error {
	v, err := t.host.Ask(ctx, event.StoreRequest{Routine: &event.RoutineRequest{Operation: event.RoutineDue}})
	if err != nil {
		return err
	}
	var a event.DueRoutines
	if err := json.Unmarshal(value.Append(nil, v), &a); err != nil {
		return err
	}
	done := make([]event.Occurred, len(a.Due))
	for i := range a.Due {
		d := &a.Due[i]
		done[i] = event.Occurred{Routine: d.Routine, ScheduledAt: d.ScheduledAt}
		first, no, err := t.scheduled(d)
		switch {
		case err != nil:
			return err
		case no != nil:
			done[i].Why = no.Error()
			continue
		}
		done[i].Run = engine.RunIDOf(d.Identity()...)
		if err := t.trigger(ctx, done[i].Run, first); err != nil {
			return err
		}
	}
	_, err = t.host.Ask(ctx, event.StoreRequest{Routine: &event.RoutineRequest{Operation: event.RoutineStarted, Done: done}})
	return err
}

// scheduled is the first event of the run that a moment of a routine starts. no says why it cannot start it.
func (t *test) scheduled(d *event.DueMoment) (first *event.RunStarted, no, err error) {
	g, err := t.program.graph(d.Workflow)
	if err != nil {
		return nil, nil, err
	}
	first = &event.RunStarted{Workflow: d.Workflow, FirstMembers: true, Dir: "/", Vars: open(t.program.Variables, t.Vars), Secrets: seals(t.sensitive(d.Workflow, nil))}
	if first.Inputs, no = compose.New(g, t.program.eval, first).Scheduled(t.program.Routine(d.Routine)); no != nil {
		return nil, no, nil
	}
	first.Cause = d.Cause()
	return first, nil, nil
}

// readRoutine is how a routine stands.
func (t *test) readRoutine(name string) (value.Value, error) {
	v, err := t.host.Ask(context.Background(), event.StoreRequest{Routine: &event.RoutineRequest{Operation: event.RoutineList}})
	if err != nil {
		return nil, err
	}
	list, _ := v.([]any)
	for _, r := range list {
		if o, _ := r.(map[string]any); o["name"] == name {
			return map[string]any{"next": o["next"], "waiting": o["waiting"], "started": o["started"], "missed": o["missed"], "paused": o["paused"]}, nil
		}
	}
	return nil, nil
}

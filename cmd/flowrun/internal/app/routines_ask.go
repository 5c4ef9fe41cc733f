package app

import (
	"context"
	"fmt"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/event"
)

// registeredRoutines are the routines of the store, in the order of their names.
func (a *app) registeredRoutines() ([]runner.Routine, error) {
	return readStore(a, func(ctx context.Context, s *store) ([]runner.Routine, error) { return s.Routines(ctx) })
}

// findRoutine is the registered routine of a name.
func (a *app) findRoutine(name string) (*runner.Routine, error) {
	list, err := a.registeredRoutines()
	if err != nil {
		return nil, err
	}
	names := make([]string, len(list))
	for i := range list {
		if names[i] = list[i].Name; names[i] == name {
			return &list[i], nil
		}
	}
	return nil, unknown(name, names, "flowrun serve --once FILE registers the routines of a program, and flowrun apply FILE does so before it runs the program. See flowrun routines list.", fmt.Sprintf("there is no routine %q in this store", name))
}

// changeRoutine pauses a routine, or lets it go on.
func (a *app) changeRoutine(r *args.RoutinesChange, operation event.RoutineOperation, done, before string) error {
	if _, err := a.findRoutine(r.Name); err != nil {
		return err
	}
	v, err := a.askShared(event.StoreRequest{Routine: &event.RoutineRequest{Operation: operation, Name: r.Name}}, changesStore)
	if err != nil {
		return err
	}
	o, _ := v.(map[string]any)
	if r.JSON {
		return ui.WriteJSON(a.out, v)
	}
	if o["changed"] != true {
		done = before
	}
	a.out.Printf("%s %s\n", ui.Clean(r.Name), done)
	return nil
}

package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/fleet"
	"github.com/flowrun/flowrun/runner/view"
)

// dialFleet connects to the server of an address.
func (a *app) dialFleet(ctx context.Context, address string) (*fleet.Fleet, error) {
	if err := checkEngine(address); err != nil {
		return nil, err
	}
	return fleet.Dial(ctx, address)
}

func checkEngine(address string) error {
	if err := fleet.Check(address); err != nil {
		return &args.Error{Message: "--engine: " + err.Error()}
	}
	return nil
}

// applyOnFleet starts a run on another engine, and follows it to its end. The run goes on without the follower.
func (a *app) applyOnFleet(o *args.Apply) error {
	if err := checkEngine(o.Engine); err != nil {
		return err
	}
	p, w, err := a.pickWorkflow(&o.Path, o.Workflow)
	if err != nil {
		return err
	}
	first, _, err := a.newFirstEvent(p, w, o)
	if err != nil {
		return err
	}
	first.Dir, first.Env = fleet.Root, nil // those of the worker
	if err := fleet.Refuse(p.ir, w.Name, &first); err != nil {
		return &args.Error{Message: err.Error(), Hint: "Leave --engine out to run it in a store, or see: flowrun explain engine"}
	}
	if runner.StartsItself(p.ir) {
		a.saySo("this engine starts no runs for events and schedules of the program: this run alone starts")
	}
	ctx, release := process.UntilSignal(func(string) {})
	defer release()
	host, err := a.dialFleet(ctx, o.Engine)
	if err != nil {
		return err
	}
	defer host.Close()
	start, where := newStart(p, w.Name, first)
	run, err := host.Start(ctx, start)
	if err != nil {
		return err
	}
	pinned, err := host.Load(start.Header.Definition, start.Definition)
	if err != nil {
		return err
	}
	flags := " --engine " + ui.Quote(o.Engine)
	a.sayUnserved(ctx, host, run, flags)
	if o.Detach {
		if o.JSON {
			return ui.WriteJSON(a.out, map[string]string{"run": run})
		}
		a.out.Printf("%s\n", run)
		return nil
	}
	r := view.New(pinned.Workflow(first.Workflow))
	screen := ui.NewLive(ui.NewProgress(a.out, a.err, ui.Scene{Where: func(step string) string { return where[step] }, Flags: flags}, o.JSON), r,
		func(time.Time) []ui.Saying { return nil }, func(defect any) { a.err.Printf("flowrun: the progress display failed: %v\n", defect) })
	end, err := host.Drive(ctx, run, screen.Watch)
	screen.Close()
	var stop *process.Interrupted
	switch {
	case errors.As(err, &stop):
		a.err.Printf("flowrun: run %s continues without this command. Look at it with:\n  flowrun runs show %s%s\n", run, run, flags)
		return &ended{process.SignalCode(stop.Signal)}
	case err != nil:
		return fmt.Errorf("following run %s: %w", run, err)
	}
	if !o.JSON {
		ui.Outputs(a.out, knownOutputs(end))
	}
	switch {
	case end.Status == event.Succeeded, end.Status == event.Skipped:
		return nil
	case !o.JSON:
		a.err.Printf("Details: flowrun runs show %s%s\n", run, flags)
	}
	if end.Limit {
		return &ended{exitLimit}
	}
	return &ended{exitNo}
}

// sayUnserved tells the user that nobody drives a run. What the server does not answer is not said.
func (a *app) sayUnserved(ctx context.Context, host *fleet.Fleet, run, flags string) {
	queue, served, err := host.Served(ctx, run)
	if err == nil && !served {
		a.saySo(fmt.Sprintf("no worker takes work from the queue %s; run %s waits for one:\n  flowrun worker%s", queue, run, flags))
	}
}

// showOnFleet shows a run of another engine.
func (a *app) showOnFleet(r *args.Show) error {
	if r.Step != "" || r.At > 0 {
		return &args.Error{Message: "runs show --engine shows whole runs, as they are now", Hint: "Leave the step and --at out."}
	}
	ctx := context.Background()
	host, err := a.dialFleet(ctx, r.Engine)
	if err != nil {
		return err
	}
	defer host.Close()
	p, err := host.Past(ctx, r.Run)
	if err != nil {
		return err
	}
	if r.JSON {
		return ui.WriteRun(a.out, p.View, nil, struct{}{})
	}
	flags := " --engine " + ui.Quote(r.Engine)
	ui.Show(a.out, p.View, nil, ui.Scene{Where: func(string) string { return "" }, Flags: flags}, event.At(time.Now()), ui.Shown{All: r.All, Failed: r.Failed})
	if !p.View.Status.Terminal() {
		a.sayUnserved(ctx, host, r.Run, flags)
	}
	return nil
}

package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/values"
	"github.com/flowrun/flowrun/dsl/disk"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/view"
)

// newLive shows the progress of a run: JSON lines on stdout, a tree on a terminal, lines elsewhere.
func (a *app) newLive(r *view.Run, said *runner.Progress, scene ui.Scene, asJSON bool) *ui.Live {
	return ui.NewLive(ui.NewProgress(a.out, a.err, scene, asJSON), r, func(now time.Time) (words []ui.Saying) {
		for _, text := range said.Take(now) {
			words = append(words, ui.Saying(text))
		}
		return words
	}, func(defect any) { a.err.Printf("flowrun: the progress display failed: %v\n", defect) })
}

// errAtRest ends the drive of a run of which all that is left waits for people.
var errAtRest = errors.New("all that is left waits for people")

// driveRun drives a run to its end, shows it, prints its outputs, and returns the verdict as an
// error (see exit.go).
func (a *app) driveRun(s *store, run string, p *runner.Program, r *view.Run, scene ui.Scene, o *args.Drive, asJSON bool) error {
	scene.Logs = o.Logs
	screen := a.newLive(r, s.Progress(run), scene, asJSON)
	ctx, release := process.UntilSignal(screen.Say)
	defer release()
	ctx, rest := context.WithCancelCause(ctx)
	defer rest(nil)
	if a.returnsAtRest(o) {
		s.OnRest(run, p, func() { rest(errAtRest) })
	}
	watch := screen.Watch
	if o.Logs {
		printer := a.newOutputPrinter(s, r)
		watch = func(events []event.Event, out *event.Reaction, replayed bool) {
			if !replayed {
				screen.Print(func() error { return printer.print(events) })
			}
			screen.Watch(events, out, replayed)
		}
	}
	end, err := s.Drive(ctx, run, watch)
	screen.Close()
	var stop *process.Interrupted
	switch {
	case errors.As(err, &stop):
		return a.sayStopped(run, r, stop.Signal, scene, asJSON)
	case errors.Is(err, errAtRest):
		return a.sayResting(s, r, run, scene, asJSON)
	case errors.Is(err, engine.ErrFenced):
		return fmt.Errorf("another process drives run %s now: %w", run, err)
	case errors.Is(err, engine.ErrFull):
		return fmt.Errorf("driving run %s: %w\nFinished steps are kept. Free some space, then continue with:\n  flowrun resume %s%s", run, err, run, scene.Flags)
	case errors.Is(err, engine.ErrOwned):
		return err
	case err != nil:
		return fmt.Errorf("driving run %s: %w", run, err)
	}
	if !asJSON {
		ui.Degraded(a.err, r)
	}
	if err := a.printEnd(s, run, end, scene, asJSON); err != nil || end.Loop == nil || end.Loop.GoesOn {
		return err
	}
	return a.checkWorktrees(r, asJSON)
}

// checkWorktrees ends with exit code 1 if the run of a loop left an item undone because its worktree could not be made.
func (a *app) checkWorktrees(r *view.Run, asJSON bool) error {
	undone := r.WithoutWorktree()
	if len(undone) == 0 {
		return nil
	}
	if !asJSON {
		a.err.Printf("flowrun: not done: %s, because %s\n", ui.Count(len(undone), "item"), ui.Clean(undone[0].Reason))
	}
	return &ended{exitNo}
}

// sayStopped tells the user what a run that a signal stopped waits for, and how to resume it.
func (a *app) sayStopped(run string, r *view.Run, sig os.Signal, scene ui.Scene, asJSON bool) error {
	code := process.SignalCode(sig)
	if a.engine() != "" {
		return a.sayDetached(run, code, r.Status, scene, asJSON)
	}
	if asJSON {
		_ = ui.WriteJSON(a.out, map[string]any{"v": ui.EventVersion, "type": "run.interrupted", "run": run, "exit_code": code, "status": r.Status,
			"waits": r.Waits()})
	} else {
		a.err.Printf("flowrun: stopped%s; finished steps are kept. Continue with:\n  flowrun resume %s%s\n", ui.Waits(r), run, scene.Flags)
	}
	return &ended{code}
}

// printEnd prints the outputs of a run and turns its end into an exit code.
func (a *app) printEnd(s *store, run string, end event.End, scene ui.Scene, asJSON bool) error {
	if !asJSON {
		ui.Outputs(a.out, knownOutputs(end))
		if dead, _ := end.Outputs["dead"].(float64); end.Loop != nil && dead > 0 {
			a.err.Printf("Items that failed twice are dead letters. List them with: flowrun dlq list%s\n", scene.Flags)
		}
	}
	code := exitNo
	switch {
	case end.Status == event.Succeeded, end.Status == event.Skipped:
		return nil
	case end.Limit:
		code = exitLimit
	}
	if !asJSON {
		a.err.Printf("Details: flowrun runs show %s%s\n", run, scene.Flags)
		if advice := a.adviseInputs(s, run, end.Error); advice != "" {
			a.err.Printf("%s\n", advice)
			return &ended{code}
		}
		origin := s.Origin(context.Background(), run)
		a.err.Printf("Retry the failed steps with: flowrun retry %s%s\n", origin, scene.Flags)
		if c := a.changed(s, origin); c.differs() {
			a.err.Printf("%s: retry uses the old definition.%s\n", c.what, c.advice())
		}
	}
	return &ended{code}
}

// adviseInputs is the advice to a run that failed before any node started, because of its inputs or a requirement: a retry keeps the inputs. "": the
// run failed otherwise.
func (a *app) adviseInputs(s *store, run string, e *event.Error) string {
	if e == nil || e.Node != "" || e.Reason != event.ReasonGate && e.Reason != event.ReasonRequire {
		return ""
	}
	command := "flowrun apply FILE"
	if b, err := s.SourceOf(context.Background(), run); err == nil && b.Path != "" {
		command = "flowrun apply " + ui.Quote(disk.Short(b.Path)) + a.flagsAt(b.Path, s.Dir())
	}
	again := ""
	if e.Reason == event.ReasonGate { // a requirement can read more than inputs
		again = ", and fails again"
	}
	return "A retry has the same inputs" + again + ". Start a new run with another value: " + command + " --input NAME=VALUE"
}

// knownOutputs leaves out the outputs that a failed run could not compute.
func knownOutputs(end event.End) map[string]value.Value {
	if end.Status == event.Succeeded {
		return end.Outputs
	}
	known := map[string]value.Value{}
	for name, v := range end.Outputs {
		if v != nil {
			known[name] = v
		}
	}
	return known
}

func outputFlag(c *cobra.Command, d *args.Drive) {
	c.Flags().BoolVar(&d.Logs, "logs", false, "print what each attempt wrote when it has ended; on GitHub Actions as a group of the log")
}

func deathLimitFlag(c *cobra.Command, d *args.Drive) {
	c.Flags().IntVar(&d.DeathLimit, "death-limit", 0, "fail an attempt after `N` flowrun processes in a row died running it (default 3)")
}

// resumeSession gets the secrets of a run that began in another process.
func (a *app) resumeSession(ctx context.Context, s *store, run string, o *args.Given, may values.Renewal) error {
	p, err := s.Pinned(ctx, run)
	if err != nil {
		return err
	}
	first, err := p.First()
	if err == nil {
		err = s.Reseal(ctx, run, first)
	}
	if err != nil {
		return err
	}
	held, renewed, err := a.valueReader().FindSecrets(run, first, p.Program.Program, o, may)
	if err != nil {
		return err
	}
	s.Resume(first, p, held, renewed)
	return nil
}

// checkFolder refuses to resume a run if its folder is gone, because all its steps would fail. The
// user can still restore the folder.
func checkFolder(ctx context.Context, s *store, run string) error {
	first, _, err := s.Beginning(ctx, run)
	if err != nil || first.Dir == "" || s.Address() != "" {
		return err
	}
	if _, err := os.Stat(first.Dir); !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("the folder of run %s no longer exists: %s\nRestore it, or link to its new place (ln -s NEW %s); or start a new run with flowrun apply.",
		run, first.Dir, ui.Quote(first.Dir))
}

// continueRun drives a run from the end of its journal. newSecrets are the names of secrets that may have another value.
func (a *app) continueRun(ctx context.Context, s *store, info engine.Info, o *args.Given, drive *args.Drive, newSecrets []string, asJSON, follows bool) error {
	p, err := s.Pinned(ctx, info.Run)
	if err != nil {
		return err
	}
	var f *follower
	switch {
	case info.Status.Terminal():
		if !asJSON {
			a.err.Printf("run %s had ended before: %s\n", info.Run, ui.Clean(string(info.Status)))
		}
	case a.engine() != "": // workers drive it
	default:
		if err := checkFolder(ctx, s, info.Run); err != nil {
			return err
		}
		if err := a.resumeSession(ctx, s, info.Run, o, values.Renewal{Names: newSecrets}); err != nil {
			return err
		}
		if !asJSON {
			a.sayChanged(s, info)
		}
		if follows {
			f = a.followAgain(ctx, s, info.Run)
		}
	}
	scene := a.sceneOf(s, s.Where(ctx, info.Run))
	err = a.writeReports(s, info.Run, scene, nil, a.driveRun(s, info.Run, p.Program, view.New(p.Workflow), scene, drive, asJSON))
	if errors.Is(err, engine.ErrOwned) {
		run := info.Run + scene.Flags
		return fmt.Errorf("%w\nTo follow it: flowrun runs watch %s\nTo end it: flowrun cancel %s\nIf its process hangs: flowrun resume %s --take-over", err, run, run, run)
	}
	return f.finish(err, a.returnsAtRest(drive))
}

// newStart returns a run in the engine's form, with the positions of its steps.
func newStart(p *program, workflow string, first event.RunStarted) (engine.Start, map[string]string) {
	b, definition := p.source(workflow), p.ir.Canonical()
	return engine.Start{
		Header: journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Definition: ir.Hash(definition), Workflow: workflow, Release: Release},
		First:  first, Definition: definition, Source: b.Encode(),
	}, b.Where
}

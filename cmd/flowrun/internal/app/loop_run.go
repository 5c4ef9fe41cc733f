package app

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

func (a *app) newLoopRunCommand() *cobra.Command {
	var o args.LoopRun
	c := &cobra.Command{
		Use: "run NAME [FILE|DIR]", Short: "Run a loop in the foreground", Args: between(1, 2, "NAME [FILE|DIR]"),
		Long: `run drives a loop of a program until it is stopped. Each item has its own run. Ctrl-C stops the loop and the runs of its items;
the next  flowrun loop run NAME  continues them, and ends according to its own flags. A store runs a loop only once at a time. On a Temporal server, workers drive the loop. They continue after Ctrl-C; flowrun loop stop NAME stops the loop.

With --until-idle the loop also ends while runs of items wait for a person, an event, or a time in the far future. The next run of the loop, or flowrun serve, continues these runs.

If the worktree of an item cannot be made, loop run ends with exit code 1.`,
		RunE: func(_ *cobra.Command, words []string) error {
			o.Name, o.Path, a.asJSON = words[0], ".", o.JSON
			if len(words) > 1 {
				o.Path = words[1]
			}
			return a.runLoopRun(&o)
		},
	}
	f := c.Flags()
	variableFlags(c, &o.Given)
	f.BoolVar(&o.Once, "once", false, "give each free slot of an agent at most one item, and end when these items are done")
	f.BoolVar(&o.UntilIdle, "until-idle", false, "end when there is nothing to do")
	f.BoolVar(&o.JSON, "json", false, "events as JSON lines on standard output")
	deathLimitFlag(c, &o.Drive)
	return c
}

// runLoopRun drives the run of a loop that was left, or a new one.
func (a *app) runLoopRun(o *args.LoopRun) error {
	if err := o.Check(); err != nil {
		return err
	}
	process.CollectWithin(a.getenv)
	p, err := a.loadProgram(o.Path)
	if err != nil {
		return err
	}
	if err := a.useEngineOf(p); err != nil {
		return err
	}
	l, err := p.loop(o.Name)
	if err != nil {
		return err
	}
	first, held, err := a.newFirstEvent(p, &ir.Workflow{Name: l.Name}, &args.Apply{Given: o.Given})
	if err != nil {
		return err
	}
	first.Loop = &event.LoopStart{Once: o.Once, UntilIdle: o.UntilIdle}
	if a.engine() != "" {
		if o.DeathLimit != 0 {
			return args.Errorf("--death-limit works with runs of a store; with --engine, workers drive the run")
		}
		if err := refuseOnFleet(p, l.Name, &first); err != nil {
			return err
		}
	}
	dir, err := a.storeDir(o.Path)
	if err != nil {
		return err
	}
	s, err := a.openStore(dir, o.Drive)
	if err != nil {
		return err
	}
	defer s.Close()
	ctx := context.Background()
	start, where := newStart(p, l.Name, first)
	left, found, err := a.leftLoop(ctx, s, l.Name)
	if err != nil {
		return err
	}
	if err := unstopLoop(ctx, s, l.Name); err != nil {
		return err
	}
	if found {
		if left.Definition != start.Header.Definition {
			return fmt.Errorf("run %s of loop %s was left by its process, and the program has changed since\nTo continue it unchanged:  flowrun resume %s\nTo start over, end it first:  flowrun cancel %s", left.Run, l.Name, left.Run, left.Run)
		}
		if _, err := s.Ask(ctx, event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopBegin, Loop: l.Name, Once: o.Once, UntilIdle: o.UntilIdle}}); err != nil {
			return err
		}
		if err := a.continueRun(ctx, s, left, &o.Given, &o.Drive, nil, o.JSON, false); err != nil {
			return err
		}
		if goes, err := s.LoopGoesOn(ctx, l.Name); err != nil || !goes {
			if err == nil && o.UntilIdle && !o.JSON {
				a.sayLeft(ctx, s, start, held, o)
			}
			return err
		}
	}
	pinned, err := s.Load(start.Header.Definition, start.Definition)
	if err != nil {
		return err
	}
	scene := a.sceneOf(s, func(step string) string { return where[step] })
	for goes := true; goes; { // one run after the other, as long as each ends only to let the next one begin
		info, _, err := s.StartLoop(ctx, start, held)
		if err != nil {
			return err
		}
		if err := a.driveRun(s, info.Run, pinned, view.New(&ir.Workflow{Name: l.Name}), scene, &o.Drive, o.JSON); err != nil {
			return err
		}
		if goes, err = s.LoopGoesOn(ctx, l.Name); err != nil {
			return err
		}
	}
	if o.UntilIdle && !o.JSON {
		a.sayLeft(ctx, s, start, held, o)
	}
	return nil
}

package app

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/values"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newResumeCommand() *cobra.Command {
	var r args.Resume
	c := &cobra.Command{
		Use: "resume RUN", Short: "Continue a run that was stopped or whose process died", Args: between(1, 1, "RUN"),
		Long: `resume continues a run where its journal ends. Finished steps do not run again; interrupted attempts start again with the same
idempotency key. RUN is an id or the beginning of one, a workflow's name, a file, or "latest". For a run that has ended, resume
prints the outputs, and the exit code is that of the run. For a called run it names the calling run, which continues it. Like apply, resume also starts and drives the runs that events start in a registered program, unless a daemon serves the store.

Sensitive values are read from where the run got them, and must be the same, except for the names that --new-secret gives: the journal
records that these differ. Give values of the command line again; the flags for values also say where a value is found now.
--dry-run shows which attempts would start again, and which nodes wait and until when. It writes nothing, and takes the run from no process.`,
		RunE: func(_ *cobra.Command, words []string) error {
			r.Run, a.asJSON = words[0], r.JSON
			if err := r.Check(); err != nil {
				return err
			}
			process.CollectWithin(a.getenv)
			var drive *args.Drive
			if !r.DryRun {
				drive = &r.Drive
			}
			return a.withRun(r.Run, drive, func(s *store, info engine.Info) error { return a.runResume(s, info, &r) })
		},
	}
	c.Flags().BoolVar(&r.JSON, "json", false, "events as JSON lines on standard output")
	c.Flags().BoolVar(&r.DryRun, "dry-run", false, "only show what would happen")
	c.Flags().StringArrayVar(&r.NewSecrets, "new-secret", nil, "accept a new value of this sensitive variable or input, `NAME`; can be repeated")
	c.Flags().BoolVar(&r.TakeOver, "take-over", false, "take over the run from a process that is alive but hangs")
	c.Flags().BoolVar(&r.NoFollow, "no-follow", false, "start no run for an event: events wait in the store for the next apply of the program")
	outputFlag(c, &r.Drive)
	deathLimitFlag(c, &r.Drive)
	noWaitFlag(c, &r.Drive)
	valueFlags(c, &r.Given)
	return c
}

// runResume drives a run from the end of its journal, or prints the first actions of such a drive.
func (a *app) runResume(s *store, info engine.Info, r *args.Resume) error {
	if top := s.Top(context.Background(), info); top != info.Run {
		return &args.Error{Message: fmt.Sprintf("run %s was called by run %s, which continues it", info.Run, info.Parent),
			Hint: fmt.Sprintf("flowrun resume %s%s", top, a.sceneOf(s, nil).Flags)}
	}
	if s.Address() != "" {
		return a.resumeOnFleet(s, info, r)
	}
	ctx := context.Background()
	if r.DryRun {
		return a.resumeDry(ctx, s, info, r)
	}
	return a.continueRun(ctx, s, info, &r.Given, &r.Drive, r.NewSecrets, r.JSON, !r.NoFollow)
}

// resumeDry prints the first actions of a drive.
func (a *app) resumeDry(ctx context.Context, s *store, info engine.Info, r *args.Resume) error {
	if !info.Status.Terminal() {
		first, p, err := s.Beginning(ctx, info.Run)
		if err == nil {
			err = s.Reseal(ctx, info.Run, first)
		}
		if err == nil {
			_, _, err = a.valueReader().FindSecrets(info.Run, first, p.Program, &r.Given, values.Renewal{Names: r.NewSecrets}) // a drive would need these secrets
		}
		if err != nil {
			return err
		}
	}
	now := event.At(time.Now())
	p, err := s.Prospect(ctx, info, runner.Outlook{Now: now, TakeOver: r.TakeOver, DeathLimit: r.DeathLimit})
	if err != nil {
		return err
	}
	if r.JSON {
		return ui.WriteJSON(a.out, p)
	}
	ui.ShowProspect(a.out, p, now)
	a.sayChanged(s, info)
	return nil
}

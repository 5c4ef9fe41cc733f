package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/values"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newCancelCommand() *cobra.Command {
	var r args.Cancel
	c := &cobra.Command{
		Use: "cancel RUN", Short: "Cancel a run; a cancelled run cannot be resumed", Args: between(1, 1, "RUN"),
		Long: `cancel asks the process that drives the run to end it, and returns when the request is durable; with --wait it returns when the run
has ended, with its compensations and finally. If no process drives the run, or if that process dies meanwhile, cancel ends the run
itself. A second cancel does not wait for running attempts, and skips compensations and finally. Compensations and finally may
need sensitive values: cancel reads them from where the run got them, or you give them again, as for resume.`,
		RunE: func(_ *cobra.Command, words []string) error {
			r.Run = words[0]
			if err := r.Check(); err != nil {
				return err
			}
			return a.withRun(r.Run, &args.Drive{MakeDo: true}, func(s *store, info engine.Info) error { return a.runCancel(s, info, &r) })
		},
	}
	c.Flags().StringVar(&r.Reason, "reason", "", "the reason, which runs show prints")
	c.Flags().BoolVar(&r.Wait, "wait", false, "return when the run has ended")
	c.Flags().BoolVar(&r.WithoutSecrets, "without-secrets", false, "end the run without its sensitive values: compensations that need them do not run")
	valueFlags(c, &r.Given)
	c.Flags().DurationVar(&r.Timeout, "timeout", 0, "wait no longer than this `duration`; then the exit code is 1 (default: without end)")
	return c
}

// runCancel requests the end of a run, and ends the run itself if no process drives it.
func (a *app) runCancel(s *store, info engine.Info, r *args.Cancel) error {
	if info.Status.Terminal() {
		a.err.Printf("run %s had ended before: %s\n", info.Run, ui.Clean(string(info.Status)))
		return nil
	}
	if info.Driver == 0 {
		if err := a.prepareCancel(s, info.Run, r); err != nil {
			return err
		}
	}
	if err := s.Cancel(context.Background(), info.Run, r.Reason); err != nil {
		return err
	}
	return a.waitForCancelled(s, info.Run, info.Driver != 0, r)
}

// prepareCancel gets the secrets of a run that is cancelled here, if its program has steps that run
// on cancellation and may need the secrets.
func (a *app) prepareCancel(s *store, run string, r *args.Cancel) error {
	ctx := context.Background()
	_, p, err := s.Beginning(ctx, run)
	if err != nil || r.WithoutSecrets || !p.ActsWhenCancelled() {
		return err
	}
	err = a.resumeSession(ctx, s, run, &r.Given, values.Renewal{})
	var missing *args.Error
	if errors.As(err, &missing) {
		missing.Hint = "To end it without them, and without the compensations that need them: flowrun cancel " + run + a.sceneOf(s, nil).Flags + " --without-secrets"
	}
	return err
}

// waitForCancelled ends a run that no process drives. With --wait it waits for the run's driver, and
// takes the run over if the driver dies.
func (a *app) waitForCancelled(s *store, run string, driven bool, r *args.Cancel) error {
	ctx, release := process.UntilSignal(func(string) {})
	defer release()
	if r.Timeout > 0 {
		late, stop := context.WithTimeoutCause(ctx, r.Timeout, &cancelTimeout{run, r.Timeout})
		defer stop()
		ctx = late
	}
	for told := false; ; told = true {
		if !driven {
			end, err := s.Drive(ctx, run, nil)
			if err == nil {
				return a.sayCancelled(run, end.Status)
			}
			if !errors.Is(err, engine.ErrOwned) {
				return a.explainCancelWait(ctx, err)
			}
		}
		if !told {
			a.err.Printf("run %s: cancellation requested\n", run)
		}
		if !r.Wait {
			return nil
		}
		info, err := s.Await(ctx, run)
		if err != nil {
			return a.explainCancelWait(ctx, err)
		}
		if info.Status.Terminal() {
			return a.sayCancelled(run, info.Status)
		}
		if err := a.prepareCancel(s, run, r); err != nil {
			return err
		}
		driven = false
	}
}

func (a *app) sayCancelled(run string, status event.Status) error {
	a.err.Printf("run %s: %s\n", run, ui.Clean(string(status)))
	return nil
}

// cancelTimeout is the cause of a wait that reached its limit.
type cancelTimeout struct {
	run   string
	after time.Duration
}

func (t *cancelTimeout) Error() string {
	return fmt.Sprintf("run %s has not ended within %s; the request to cancel it is recorded", t.run, t.after)
}

// explainCancelWait turns the end of a wait into an exit code. If the end of ctx is the error, the cause of
// ctx replaces it.
func (a *app) explainCancelWait(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = context.Cause(ctx)
	}
	var late *cancelTimeout
	var stop *process.Interrupted
	switch {
	case errors.As(err, &late):
		a.err.Printf("flowrun: %s\n", late)
		return &ended{exitNo}
	case errors.As(err, &stop):
		return &ended{process.SignalCode(stop.Signal)}
	}
	return err
}

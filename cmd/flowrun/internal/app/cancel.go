package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
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

func (a *app) newCancelCommand() *cobra.Command {
	var r args.Cancel
	c := &cobra.Command{
		Use: "cancel RUN [NODE]", Short: "Cancel a run, or one node of it; a cancelled run cannot be resumed", Args: between(1, 2, "RUN [NODE]"),
		Long: `cancel asks the process that drives the run to end it, and returns when the request is durable; with --wait it returns when the run
has ended, with its compensations and finally. If no process drives the run, or if that process dies meanwhile, cancel ends the run
itself. A second cancel does not wait for running attempts, and skips compensations and finally. Compensations and finally may
need sensitive values: cancel reads them from where the run got them, or you give them again, as for resume.

With NODE, cancel ends one node and all nodes below it, detached ones too, and the run continues: running attempts are stopped, the node
ends as cancelled, and nodes that need it are blocked. The run fails at its end, as after a failed node, also if the node has on_error = "continue", which
tolerates failures and not the decision of a person. NODE is a step, a group, an instance of a
for_each, or an iteration: its path, its name, or the path with the name of the item. An attempt that succeeds at the last moment counts.

  flowrun cancel latest
  flowrun cancel latest deploy --reason "wrong cluster"
  flowrun cancel latest 'copy[1]' --wait
  flowrun cancel latest 'copy["photos"]'`,
		RunE: func(_ *cobra.Command, words []string) error {
			if r.Run = words[0]; len(words) > 1 {
				r.Node = &words[1]
			}
			a.asJSON = r.JSON
			if err := r.Check(); err != nil {
				return err
			}
			if r.Node != nil {
				return a.withRun(r.Run, &args.Drive{MakeDo: true}, func(s *store, info engine.Info) error { return a.runCancelNode(s, info, &r) })
			}
			return a.withRun(r.Run, &args.Drive{MakeDo: true}, func(s *store, info engine.Info) error { return a.runCancel(s, info, &r) })
		},
	}
	c.Flags().BoolVar(&r.JSON, "json", false, "the request, or with --wait the end, as JSON")
	c.Flags().StringVar(&r.Reason, "reason", "", "the reason, which runs show prints")
	c.Flags().StringVar(&r.As, "as", "", "the `name` of the person who cancels the node (default: the user of the operating system)")
	c.Flags().BoolVar(&r.Wait, "wait", false, "return when the run, or the node, has ended")
	c.Flags().BoolVar(&r.WithoutSecrets, "without-secrets", false, "end the run without its sensitive values: compensations that need them do not run")
	valueFlags(c, &r.Given)
	c.Flags().DurationVar(&r.Timeout, "timeout", 0, "wait no longer than this `duration`; then the exit code is 1 (default: without end)")
	return c
}

// runCancel requests the end of a run, and ends the run itself if no process drives it.
func (a *app) runCancel(s *store, info engine.Info, r *args.Cancel) error {
	if info.Status.Terminal() {
		a.err.Printf("run %s had ended before: %s\n", info.Run, ui.Clean(string(info.Status)))
		return a.writeCancelled(info.Run, "", info.Status)
	}
	if s.Address() != "" {
		return a.cancelOnFleet(s, info, r)
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

// cancelOnFleet requests the end of a run. Its workers end it.
func (a *app) cancelOnFleet(s *store, info engine.Info, r *args.Cancel) error {
	ctx, release := process.UntilSignal(func(string) {})
	defer release()
	if err := s.Cancel(ctx, info.Run, r.Reason); err != nil {
		return err
	}
	a.err.Printf("run %s: cancellation requested\n", info.Run)
	if info.Trouble != "" {
		a.err.Printf("run %s: %s\n", info.Run, a.describeTrouble(info))
	}
	if !r.Wait {
		return a.writeCancelled(info.Run, "", "")
	}
	if r.Timeout > 0 {
		late, stop := context.WithTimeoutCause(ctx, r.Timeout, &cancelTimeout{"run " + info.Run, r.Timeout})
		defer stop()
		ctx = late
	}
	end, err := s.Drive(ctx, info.Run, nil)
	if err != nil {
		return a.explainCancelWait(ctx, err)
	}
	return a.sayCancelled(info.Run, end.Status)
}

// runCancelNode requests the end of one node. The driver of the run ends it.
func (a *app) runCancelNode(s *store, info engine.Info, r *args.Cancel) error {
	by := r.As
	if by == "" {
		by = userName()
	}
	path, err := s.CancelNode(context.Background(), info.Run, *r.Node, event.NodeCancel{By: by, Reason: r.Reason})
	if err != nil {
		return a.explainCancelNode(s, info.Run, err)
	}
	a.err.Printf("run %s: cancellation of %s requested\n", info.Run, ui.Clean(path))
	if info, err = s.Get(context.Background(), info.Run); err != nil {
		return err
	}
	if info.Interrupted() {
		a.err.Printf("%s\n", a.describeUndriven(s, info))
	}
	if !r.Wait {
		return a.writeCancelled(info.Run, path, "")
	}
	ctx, release := process.UntilSignalLooking()
	defer release()
	if r.Timeout > 0 {
		late, stop := context.WithTimeoutCause(ctx, r.Timeout, &cancelTimeout{fmt.Sprintf("%s of run %s", path, info.Run), r.Timeout})
		defer stop()
		ctx = late
	}
	status, err := s.AwaitNode(ctx, info.Run, path)
	switch {
	case err != nil:
		return a.explainCancelWait(ctx, err)
	case status == "":
		return &ended{exitNo}
	}
	a.err.Printf("run %s: %s: %s\n", info.Run, ui.Clean(path), status)
	return a.writeCancelled(info.Run, path, status)
}

// writeCancelled writes what became of a cancel with --json. status is "" if only the request is recorded.
func (a *app) writeCancelled(run, node string, status event.Status) error {
	if !a.asJSON {
		return nil
	}
	return ui.WriteJSON(a.out, struct {
		Run    string       `json:"run"`
		Node   string       `json:"node,omitempty"`
		Status event.Status `json:"status,omitempty"`
		Ended  bool         `json:"ended"`
	}{run, node, status, status != ""})
}

// explainCancelNode turns the refusal to cancel a node into a message and an exit code.
func (a *app) explainCancelNode(s *store, run string, err error) error {
	var p *runner.NodeProblem
	switch {
	case !errors.As(err, &p):
		return err
	case p.Status != "":
		a.err.Printf("flowrun: %s\n", ui.Clean(p.Message))
		if p.Status == event.Cancelled {
			return nil
		}
		return &ended{exitNo}
	case p.Unknown != "":
		return unknown(p.Unknown, p.Names, "See flowrun runs show "+run+a.sceneOf(s, nil).Flags, ui.Clean(p.Message))
	case len(p.Names) > 1:
		return &args.Error{Message: ui.Clean(p.Message), Hint: "Name one: " + ui.Clean(strings.Join(p.Names, ", "))}
	}
	return &args.Error{Message: ui.Clean(p.Message), Hint: "See flowrun runs show " + run + a.sceneOf(s, nil).Flags}
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
		late, stop := context.WithTimeoutCause(ctx, r.Timeout, &cancelTimeout{"run " + run, r.Timeout})
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
			return a.writeCancelled(run, "", "")
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
	return a.writeCancelled(run, "", status)
}

// cancelTimeout is the cause of a wait that reached its limit. what is the run or the node.
type cancelTimeout struct {
	what  string
	after time.Duration
}

func (t *cancelTimeout) Error() string {
	return fmt.Sprintf("%s has not ended within %s; the request to cancel it is recorded", t.what, t.after)
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

package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/logs"
	"github.com/flowrun/flowrun/runner/view"
)

func (a *app) newLogsCommand() *cobra.Command {
	var r args.Logs
	c := &cobra.Command{
		Use: "logs RUN [STEP]", Short: "Print what attempts wrote to their standard output and error", Args: between(1, 2, "RUN [STEP]"),
		Long: `logs prints the output of a run's attempts, of all steps or of one step, in the order in which the attempts ended; then the output so far of attempts that run or lost their process. With --follow it prints each line as it comes, after the name of its node, until the run has ended. Ctrl-C stops logs only; the run continues.`,
		RunE: func(_ *cobra.Command, words []string) error {
			r.Run = words[0]
			if len(words) > 1 {
				r.Step = words[1]
			}
			return a.withRun(r.Run, nil, func(s *store, info engine.Info) error {
				if r.Follow {
					return a.followLogs(s, info, r.Step)
				}
				return a.runLogs(s, info, &r)
			})
		},
	}
	c.Flags().BoolVar(&r.Failed, "failed", false, "print only the output of attempts that failed, were cancelled or were interrupted")
	c.Flags().BoolVarP(&r.Follow, "follow", "f", false, "print lines as they come, until the run has ended")
	return c
}

// runLogs prints the attempts of a run, or of one step or group, in the order of their ends.
func (a *app) runLogs(s *store, info engine.Info, r *args.Logs) error {
	ctx, run, step := context.Background(), info.Run, r.Step
	p, err := s.Pinned(ctx, run)
	if err != nil {
		return err
	}
	if err := knownStep(p.Workflow, step); err != nil {
		return err
	}
	first, err := p.First()
	if err != nil {
		return err
	}
	past, begun := logsPast(ctx, s, info)
	reader, shown := journal.NewReader(p.Header), 0
	interrupted := func(nextDriver uint64) error {
		for _, b := range begun {
			if b.NextDriver == nextDriver && view.IsAbout(b.Node, step) {
				shown++
				if err := a.printLogsBegun(s, b, past); err != nil {
					return err
				}
			}
		}
		return nil
	}
	_, err = s.Batches(ctx, run, func(b journal.Batch) error {
		events, err := reader.Read(b)
		for i := range events {
			if f := events[i].AttemptFinished; f != nil && view.IsAbout(f.Node, step) && !(r.Failed && f.Outcome == event.OK) && !logsSkip(first, f) {
				shown++
				if err := a.printAttempt(s, f, past); err != nil {
					return err
				}
			}
			if c := events[i].ChildFinished; c != nil && view.IsAbout(c.Node, step) && !(r.Failed && c.Status == event.Succeeded) {
				shown++
				a.printCalled(s, c)
			}
			if events[i].DriverChanged != nil {
				if err := interrupted(events[i].Seq); err != nil {
					return err
				}
			}
		}
		return err
	})
	if err == nil {
		err = interrupted(0)
	}
	if err == nil && shown == 0 && r.Failed {
		a.err.Printf("No attempt failed. All output: flowrun logs %s%s\n", run, a.sceneOf(s, nil).Flags)
	} else if err == nil && shown == 0 {
		a.explainNoLogs(ctx, s, info, step, first.Loop != nil)
	}
	return err
}

// logsSkip reports whether an attempt is one of a loop that went well and wrote nothing: a loop looks at its sources every few seconds, and claims
// and reports each item.
func logsSkip(first *event.RunStarted, f *event.AttemptFinished) bool {
	return first.Loop != nil && f.Outcome == event.OK && f.Stdout+f.Stderr+f.StdoutLog+f.StderrLog == "" && f.Artifact == nil
}

// explainNoLogs tells the user why nothing was written.
func (a *app) explainNoLogs(ctx context.Context, s *store, info engine.Info, step string, isLoop bool) {
	flags := a.sceneOf(s, nil).Flags
	switch {
	case info.Status.Terminal() && info.RetryOf != "" && step != "":
		if _, err := s.Get(ctx, info.RetryOf); errors.Is(err, engine.ErrNoRun) {
			a.err.Printf("There was no attempt. The reused results are from run %s, which was removed.\n", info.RetryOf)
			return
		}
		a.err.Printf("There was no attempt. The output of the reused results is in the earlier run:\n  flowrun logs %s %s%s\n",
			info.RetryOf, ui.Quote(step), flags)
	case isLoop:
		a.err.Printf("The loop has written nothing, and no item of it has ended. See its items with: flowrun loop status%s\n", flags)
	case info.Status.Terminal():
		a.err.Printf("There was no attempt, so there is no output. For the reason: flowrun runs show %s%s\n", info.Run, flags)
	case info.Interrupted():
		a.err.Printf("No attempt has begun. %s\n", a.describeUndriven(s, info))
	default:
		a.err.Printf("No attempt has begun yet.\n")
	}
}

// followLogs prints the output of all attempts of a run until the run has ended.
func (a *app) followLogs(s *store, info engine.Info, step string) error {
	ctx, release := process.UntilSignalLooking()
	defer release()
	p, err := s.Past(ctx, info.Run)
	if err != nil {
		return err
	}
	if err := knownStep(p.Workflow, step); err != nil {
		return err
	}
	first, err := p.First()
	if err != nil {
		return err
	}
	if !info.Status.Terminal() {
		stop, err := s.Follow(info.Run)
		if err != nil {
			a.err.Printf("The output of attempts is shown when they end: %s\n", ui.Clean(err.Error()))
		} else {
			defer stop()
		}
	}
	t := &logs.Tail{
		Folder: s.Logs(), Kept: func(log string) (io.ReadCloser, error) {
			f, _, err := s.OpenLog(log)
			return f, err
		},
		Wants: func(path string) bool { return view.IsAbout(path, step) },
		Lines: a.printLogsLines,
		Finished: func(f *event.AttemptFinished) {
			if logsSkip(first, f) {
				return
			}
			how := string(f.Outcome)
			if f.Error != nil {
				how = f.Error.Message
			}
			a.out.Printf("== %s: %s\n", ui.Attempted(f, p.View), ui.Clean(how))
		},
		Interrupted: func(x *event.Attempt, why string) {
			f := &event.AttemptFinished{Node: x.Node, Attempt: x.Attempt, Gate: x.Gate, Compensate: x.Compensate}
			a.out.Printf("== %s: %s: %s\n", ui.Attempted(f, p.View), view.Interrupted, why)
		},
		Called: func(c *event.ChildFinished) { a.printCalled(s, c) },
		Warn:   func(err error) { a.err.Printf("%s\n", ui.Clean(err.Error())) },
	}
	defer t.Close()
	err = p.Watch(ctx, runner.Watcher{
		Batch: t.Apply,
		Alone: func(i engine.Info) { a.err.Printf("%s\n", a.describeUndriven(s, i)) },
		Look:  func(engine.Info) { t.Look() },
	})
	var stop *process.Interrupted
	if errors.As(err, &stop) {
		return &ended{process.SignalCode(stop.Signal)}
	}
	return err
}

// printLogsLines prints lines behind the name of their node.
func (a *app) printLogsLines(node, gate string, lines []string) {
	if gate != "" {
		node += " gate " + ui.GateName(gate)
	}
	var b strings.Builder
	for _, line := range lines {
		if a.out.Live {
			line = ui.CleanLines(line)
		}
		fmt.Fprintf(&b, "%s | %s\n", ui.Clean(node), line)
	}
	a.out.Raw([]byte(b.String()))
}

// logsPast returns the view of a run and its attempts that have not answered; nil if this release cannot replay the run.
func logsPast(ctx context.Context, s *store, info engine.Info) (*view.Run, []*view.Begun) {
	p, err := s.Past(ctx, info.Run)
	if err != nil {
		return nil, nil
	}
	p.View.Forget()
	if p.Replay(ctx, nil) != nil {
		return nil, nil
	}
	return p.View, s.Unanswered(p, info)
}

// printLogsBegun prints the output of an attempt that has not answered.
func (a *app) printLogsBegun(s *store, b *view.Begun, r *view.Run) error {
	a.out.Printf("== %s, %s\n", ui.Clean(ui.Title(r, b.Node)), ui.Begun(a.out, b, event.At(time.Now())))
	if !b.Wrote() {
		why := "its output is not kept"
		if !s.SeesLogs() {
			why = "its output stays with its worker until the attempt ends"
		}
		a.out.Printf("-- %s\n", why)
		return nil
	}
	if err := a.printStream(s, "stdout", "", b.StdoutLog); err != nil {
		return err
	}
	return a.printStream(s, "stderr", "", b.StderrLog)
}

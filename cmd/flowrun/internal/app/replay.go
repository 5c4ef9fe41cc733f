package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/given"
	"github.com/flowrun/flowrun/runner/replay"
)

func (a *app) newReplayCommand() *cobra.Command {
	var r args.Replay
	c := &cobra.Command{
		Use: "replay RUN", Short: "Replay a run's journal, or replay it with another program", Args: between(1, 1, "RUN"),
		Long: `replay feeds the journal of a run to this release's machine, and checks that the machine does the same as then; if it does not,
the exit code is 1. No process starts, and replay writes nothing.

With --file, replay runs another program with the results in the journal. An attempt or call that the journal knows, by node, number and
gate, ends as it ended then, after the same time; conditions, joins, retries and timeouts are those of the file. replay prints the
differences: nodes that end differently, requests that the file words differently (the recorded answer is used), and work that the
journal does not know; nodes behind such work are left open. Inputs and variables are those of the run; new ones have their defaults.`,
		RunE: func(_ *cobra.Command, words []string) error {
			r.Run, a.asJSON = words[0], r.JSON
			return a.withRun(r.Run, nil, func(s *store, info engine.Info) error {
				if r.File == "" {
					return a.runReplay(s, info.Run, r.JSON)
				}
				return a.replayAgainst(s, info.Run, &r)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&r.File, "file", "", "replay with this `program`, a file or folder")
	f.BoolVar(&r.DetailedExit, "detailed-exitcode", false, "with --file: exit with 6 if there is a difference")
	f.BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}

// runReplay checks that the replay of a run's journal gives the recorded results.
func (a *app) runReplay(s *store, run string, asJSON bool) error {
	ctx := context.Background()
	p, err := s.Past(ctx, run)
	if err != nil {
		return err
	}
	err = p.Replay(ctx, nil)
	found := &ui.Replayed{Run: run, Workflow: p.Workflow.Name, Events: p.Seq(), Same: err == nil, Status: p.View.Status}
	switch {
	case errors.Is(err, engine.ErrDiverged):
		found.Problem = err.Error()
	case err != nil:
		return err
	}
	ui.ShowReplayed(a.out, found, asJSON)
	if !found.Same {
		return &ended{exitNo}
	}
	return nil
}

// replayAgainst replays a run's journal against another program and shows the differences.
func (a *app) replayAgainst(s *store, run string, r *args.Replay) error {
	ctx := context.Background()
	p, err := s.Past(ctx, run)
	if err != nil {
		return err
	}
	then := replay.NewWorld()
	var first event.RunStarted
	err = p.Replay(ctx, func(e runner.Seen) bool {
		if e.Event.RunStarted != nil {
			first = *e.Event.RunStarted
		}
		then.Learn(e.Event, e.Caused.Commands)
		return true
	})
	if err != nil {
		return err
	}
	now, err := a.loadProgram(r.File)
	if err != nil {
		return err
	}
	w, err := now.workflow(p.Workflow.Name)
	if err != nil {
		return err
	}
	if problems := given.Fit(&first, now.ir, w); problems != nil {
		return &args.Error{Message: fmt.Sprintf("the values of run %s do not fit:\n  %s", run, strings.Join(problems, "\n  "))}
	}
	out, err := runner.ReplayAgainst(then, now.ir, first)
	if err != nil {
		return fmt.Errorf("replaying run %s against %s: %w", run, r.File, err)
	}
	found := &ui.Replayed{Run: run, Workflow: w.Name, File: r.File, Events: uint64(len(out.Events)), Status: out.View.Status,
		Differences: replay.Compare(p.View, out), New: out.New, Changed: out.Changed}
	found.Same = len(found.Differences)+len(out.New)+len(out.Changed) == 0
	ui.ShowReplayed(a.out, found, r.JSON)
	if !found.Same && r.DetailedExit {
		return &ended{exitChange}
	}
	return nil
}

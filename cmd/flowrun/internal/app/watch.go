package app

import (
	"bytes"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// watchListEvery is the interval of updates of a list of runs on a terminal.
const watchListEvery = time.Second

func (a *app) newWatchCommand() *cobra.Command {
	var r args.Runs
	c := &cobra.Command{
		Use: "watch [RUN]", Short: "Watch a run that another process drives, or the list of runs", Args: between(0, 1, "[RUN]"),
		Long: `watch shows a run that another process drives, as apply does: a live tree on a terminal, a line for each change elsewhere, JSON lines
with --json. It begins at the run's first event. When the run ends, watch prints its outputs; the exit code is that of the run. Ctrl-C
stops watch only; the run continues. Without a run it shows the list of runs: repeatedly on a terminal, once elsewhere.`,
		RunE: func(_ *cobra.Command, words []string) error {
			a.asJSON = r.JSON
			if len(words) == 0 {
				return a.watchList(r.JSON)
			}
			return a.withRun(words[0], nil, func(s *store, info engine.Info) error { return a.runWatch(s, info, r.JSON) })
		},
	}
	c.Flags().BoolVar(&r.JSON, "json", false, "events as JSON lines on standard output")
	return c
}

// runWatch shows a run until it has ended.
func (a *app) runWatch(s *store, info engine.Info, asJSON bool) error {
	ctx, release := process.UntilSignalLooking()
	defer release()
	p, err := s.Past(ctx, info.Run)
	if err != nil {
		return err
	}
	scene := a.sceneOf(s, s.Where(ctx, info.Run))
	screen := a.newLive(p.View, new(runner.Progress), scene, asJSON)
	err = p.Watch(ctx, runner.Watcher{
		Batch: func(events []event.Event, out *event.Reaction) {
			p.Attempts.Apply(events, out)
			screen.Watch(events, out, false)
		},
		Alone: func(i engine.Info) {
			screen.Say(a.describeUndriven(s, i))
			if asJSON {
				_ = ui.WriteJSON(a.out, map[string]any{"v": ui.EventVersion, "type": "run.interrupted", "run": i.Run})
			}
		},
		Look: func(i engine.Info) {
			screen.Look(i.Driver != 0, func() []*view.Begun {
				begun := s.UnderWay(p, i)
				s.Stand(p, i, begun)
				return begun
			})
		},
	})
	screen.Close()
	var stop *process.Interrupted
	if errors.As(err, &stop) {
		if !asJSON {
			a.err.Printf("flowrun: no longer watching; run %s continues\n", info.Run)
		}
		return &ended{process.SignalCode(stop.Signal)}
	}
	if err != nil {
		return err
	}
	return a.printEnd(s, info.Run, *p.End(), scene, asJSON)
}

// watchList shows the list of runs; on a terminal, until a signal comes.
func (a *app) watchList(asJSON bool) error {
	ctx, release := process.UntilSignalLooking()
	defer release()
	if asJSON || !a.out.Live {
		return a.listRuns(&args.List{JSON: asJSON})
	}
	for screen := ui.NewScreen(a.out); ; {
		var text bytes.Buffer
		b := *a
		b.out, b.err = a.out.Into(&text), a.out.Into(&text)
		_, rows := a.out.Size()
		if err := b.listRuns(&args.List{Limit: max(1, rows-3)}); err != nil {
			return err
		}
		screen.Paint(text.String())
		if !process.Pause(ctx, watchListEvery) {
			return nil
		}
	}
}

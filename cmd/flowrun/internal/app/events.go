package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/view"
)

func (a *app) newEventsCommand() *cobra.Command {
	var r args.Events
	c := &cobra.Command{
		Use: "events RUN", Short: "Print a run's journal: each event and what it caused", Args: between(1, 1, "RUN"),
		Long: `events prints the events in a run's journal, one on each line: its number, its time, the time since the beginning, its kind, and below
it what it caused. Answers that came late or twice, and timers that came too late, are marked as dropped. If a journal is damaged, events prints the readable part. If this release would act differently from the recorded run, it prints the events without their effects.`,
		RunE: func(_ *cobra.Command, words []string) error {
			r.Run, a.asJSON = words[0], r.JSON
			if err := r.Check(); err != nil {
				return err
			}
			return a.withRun(r.Run, nil, func(s *store, info engine.Info) error { return a.runEvents(s, info.Run, &r) })
		},
	}
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON lines, each event as the journal has it")
	c.Flags().StringVar(&r.Node, "node", "", "only events of this `step`, of its instances, and of nodes in it")
	c.Flags().IntVar(&r.Since, "since", 0, "from event `N` on")
	return c
}

// runEvents prints the wanted events of a journal. It prints their consequences as long as the replay matches the journal.
func (a *app) runEvents(s *store, run string, r *args.Events) error {
	ctx := context.Background()
	if p, err := s.Pinned(ctx, run); err == nil { // a run that cannot be loaded still has events
		if err := knownStep(p.Workflow, r.Node); err != nil {
			return err
		}
	}
	print := ui.EntryLines
	if r.JSON {
		print = ui.EntryJSON
	}
	return s.Entries(ctx, run, func(e *view.Entry) {
		if e.Event.Seq >= uint64(r.Since) && e.About(r.Node) {
			print(a.out, e)
		}
	}, func(from uint64, why error) {
		a.err.Printf("The effects of the events from event %d on are not known: %s\n", from, ui.CleanLines(why.Error()))
	})
}

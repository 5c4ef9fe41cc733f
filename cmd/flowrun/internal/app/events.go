package app

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/view"
)

func (a *app) newEventsCommand() *cobra.Command {
	var r args.Events
	c := &cobra.Command{
		Use: "events RUN", Short: "Print a run's journal: each event and what it caused", Args: between(1, 1, "RUN"),
		Long: `events prints what stands in a run's journal, an event a line: its number, when it came, how long after the beginning, what it
is, and below it what it caused. An answer that came late or twice, and a timer that had been overtaken, are marked as dropped. A
damaged journal is printed as far as it goes. Where this release would not do again what the run did, events stand alone.`,
		RunE: func(_ *cobra.Command, words []string) error {
			r.Run, a.asJSON = words[0], r.JSON
			if err := r.Check(); err != nil {
				return err
			}
			return a.withRun(r.Run, nil, func(s *store, info engine.Info) error { return a.runEvents(s, info.Run, &r) })
		},
	}
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON lines, each event as the journal has it")
	c.Flags().StringVar(&r.Node, "node", "", "only what is about this `step`, an instance of it, or below it")
	c.Flags().IntVar(&r.Since, "since", 0, "from event `N` on")
	return c
}

// lister prints a journal.
type lister struct {
	a       *app
	run     string
	wanted  *args.Events
	started event.Time
	why     map[uint64]string // of timers that were set
	heard   map[uint64]bool   // tickets that were answered
	batch   []ui.Entry        // entries of one batch; only its end shows whether the replay matches
	seq     uint64            // of the last event that was taken
}

// runEvents prints the events of a journal. It prints their consequences as long as the replay
// matches the journal.
func (a *app) runEvents(s *store, run string, wanted *args.Events) error {
	ctx := context.Background()
	l := &lister{a: a, run: run, wanted: wanted, why: map[uint64]string{}, heard: map[uint64]bool{}}
	p, err := s.Past(ctx, run)
	if err == nil {
		if err := knownStep(p.Workflow, wanted.Node); err != nil {
			return err
		}
		p.View.Forget() // the printed part is not needed any more
		_, err = s.Batches(ctx, run, func(b journal.Batch) error { return l.replayed(p, b) })
	}
	var apart *unlike
	switch {
	case err == nil, p != nil && !errors.As(err, &apart):
		return err
	}
	a.err.Printf("From event %d on, what events caused is not known: %s\n", l.seq+1, ui.CleanLines(err.Error()))
	return l.printAlone(ctx, s)
}

// unlike is an error of a replay that does not match the journal: every error except damage of the
// journal itself.
type unlike struct{ error }

func (u *unlike) Unwrap() error { return u.error }

// replayed prints a batch and its consequences.
func (l *lister) replayed(p *runner.Past, b journal.Batch) error {
	l.batch = l.batch[:0]
	err := p.ReplayBatch(b, func(s runner.Seen) bool {
		l.batch = append(l.batch, l.entry(s))
		return true
	})
	if err != nil {
		if errors.Is(err, journal.ErrBroken) {
			return err
		}
		return &unlike{err}
	}
	for i := range l.batch {
		l.print(&l.batch[i])
	}
	return nil
}

// entry returns the part of an event and its consequences that a person wants to know.
func (l *lister) entry(s runner.Seen) ui.Entry {
	e := ui.Entry{Event: s.Event, Known: true}
	for _, c := range s.Caused.Commands {
		if c.SetTimer != nil {
			l.why[c.SetTimer.Timer] = string(c.SetTimer.Purpose)
		}
	}
	if t := s.Event.TimerFired; t != nil {
		e.Why = l.why[t.Timer]
		delete(l.why, t.Timer)
	}
	e.Asked = slices.Clone(s.Caused.Commands)
	for _, line := range s.Lines {
		if line.Type != view.Resumed && line.Type != view.CancelAsked { // these say the event itself
			e.Caused = append(e.Caused, line)
		}
	}
	e.Dropped = len(s.Caused.Commands)+len(s.Caused.Transitions) == 0 && s.Event.DriverChanged == nil
	return e
}

// printAlone prints the remaining events, without their consequences.
func (l *lister) printAlone(ctx context.Context, s *store) error {
	h, err := s.Batches(ctx, l.run, func(journal.Batch) error { return runner.ErrEnough })
	if err != nil && !errors.Is(err, runner.ErrEnough) {
		return err
	}
	reader := journal.NewReader(h)
	_, err = s.Batches(ctx, l.run, func(b journal.Batch) error {
		events, err := reader.Read(b)
		for _, ev := range events {
			if ev.Seq > l.seq {
				f := ev.AttemptFinished
				l.print(&ui.Entry{Event: ev, Dropped: f != nil && l.heard[f.Ticket]})
			}
		}
		return err
	})
	return err
}

// print prints an event if the flags select it.
func (l *lister) print(e *ui.Entry) {
	l.seq = e.Event.Seq
	if l.started == 0 {
		l.started = e.Event.At
	}
	if f := e.Event.AttemptFinished; f != nil {
		l.heard[f.Ticket] = true
	}
	if l.seq < uint64(l.wanted.Since) || !l.concerns(e) {
		return
	}
	e.Run, e.Started = l.run, l.started
	if l.wanted.JSON {
		_ = ui.WriteJSON(l.a.out, e)
		return
	}
	ui.EntryLines(l.a.out, e)
}

// concerns reports whether an event is about the requested node, and removes the parts that are
// not.
func (l *lister) concerns(e *ui.Entry) bool {
	if l.wanted.Node == "" {
		return true
	}
	e.Caused = slices.DeleteFunc(e.Caused, func(c view.Line) bool { return !view.IsAbout(c.Node, l.wanted.Node) })
	e.Asked = slices.DeleteFunc(e.Asked, func(c event.Command) bool { return !view.IsAbout(ui.NodeOf(&c), l.wanted.Node) })
	return len(e.Caused)+len(e.Asked) > 0 || view.IsAbout(e.Event.Node(), l.wanted.Node)
}

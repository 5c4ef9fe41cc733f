package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/values"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

func (a *app) newDlqRedriveCommand() *cobra.Command {
	var r args.DlqRedrive
	c := &cobra.Command{
		Use: "redrive ID…", Short: "Retry failed runs, messages and items", Args: between(1, 1000, "ID…"),
		Long: `redrive tries dead letters again, one after the other. A failed run is repeated as flowrun retry does it; the new run replaces the old one in the dead letter, and closes it if the run succeeds. A message is sent again over its channel, with the same key. Loops can take an item again, and the dead letter is closed when the item is closed. If the dead letter of an item was dropped, name the item as flowrun loop items --all shows it, such as dispatch/ds-2. An event, and each missed time of a routine, starts its run with the program that is registered now. The dead letter records who redrove it and when. Sensitive values are read from the same source as before; values of the command line must be given again.`,
		RunE: func(_ *cobra.Command, words []string) error {
			r.IDs, a.asJSON = words, r.JSON
			if err := r.Drive.Check(); err != nil {
				return err
			}
			return a.runDlqRedrive(&r)
		},
	}
	c.Flags().StringVar(&r.As, "as", "", "the `name` of the person who redrives (default: the user of the operating system)")
	c.Flags().BoolVar(&r.JSON, "json", false, "events as JSON lines on standard output")
	deathLimitFlag(c, &r.Drive)
	valueFlags(c, &r.Given)
	return c
}

// runDlqRedrive tries each entry. The error is that of the first one that failed again.
func (a *app) runDlqRedrive(r *args.DlqRedrive) (failed error) {
	if r.As == "" {
		r.As = strings.TrimPrefix(a.person().Author, "user:")
	}
	dir, err := a.storeDir("")
	if err != nil {
		return err
	}
	s, err := a.openExisting(dir, &r.Drive)
	if errors.Is(err, engine.ErrNoStore) {
		return &args.Error{Message: fmt.Sprintf("nothing has run in %s yet", dir)}
	}
	if err != nil {
		return err
	}
	defer s.Close()
	for _, id := range r.IDs {
		v, err := s.Ask(context.Background(), event.StoreRequest{Dead: &event.DeadRequest{ID: id, RedrivenBy: r.As}})
		var d deadLetter
		if err == nil {
			err = readDead(v, &d)
		}
		if err == nil {
			err = a.redriveDlqRedrive(s, &d, r)
		}
		if failed == nil {
			failed = refusedRequest(err)
		}
	}
	return failed
}

func (a *app) redriveDlqRedrive(s *store, d *deadLetter, r *args.DlqRedrive) error {
	if d.Kind == shared.DeadItem { // the store has done it
		if r.JSON {
			return ui.WriteJSON(a.out, map[string]any{"redriven": d.ID, "item": d.Item.ID})
		}
		a.out.Printf("%s: loops can take %s again\n", cmp.Or(d.ID, "no entry"), ui.Clean(d.Item.ID))
		return nil
	}
	if d.Kind == shared.DeadEvent || d.Kind == shared.DeadRoutine {
		return a.redeliverDlqRedrive(s, d)
	}
	info, err := s.Get(context.Background(), d.Run)
	if errors.Is(err, engine.ErrNoRun) {
		return &args.Error{Message: fmt.Sprintf("run %s of %s was removed", d.Run, d.ID), Hint: "To remove the entry, too: flowrun dlq drop " + d.ID}
	}
	if err != nil {
		return err
	}
	if d.Kind == shared.DeadRun {
		return a.runAgain(s, info, &args.Retry{Runs: args.Runs{Run: d.Run, JSON: r.JSON}, Given: r.Given, Drive: r.Drive})
	}
	return a.resendDlqRedrive(s, d, r)
}

// redeliverDlqRedrive makes an event or the moments of a routine due again, and drives the runs that they start.
func (a *app) redeliverDlqRedrive(s *store, d *deadLetter) error {
	if _, err := s.Ask(context.Background(), event.StoreRequest{Dead: &event.DeadRequest{ID: d.ID, Redeliver: true}}); err != nil {
		return err
	}
	if a.engine() != "" {
		a.out.Printf("%s: a worker starts its run\n", d.ID)
		return nil
	}
	f := a.follow(s, *d.Program, nil)
	started, _, err := s.StartRoutines(context.Background(), *d.Program, nil)
	f.take(started)
	if err := f.finish(err, true); err != nil {
		return err
	}
	if _, err := s.Ask(context.Background(), event.StoreRequest{Dead: &event.DeadRequest{ID: d.ID}}); err == nil {
		return fmt.Errorf("%s could not start a run again\nSee: flowrun dlq show %s", d.ID, d.ID)
	}
	return nil
}

// resendDlqRedrive sends a message again, and closes its entry.
func (a *app) resendDlqRedrive(s *store, d *deadLetter, r *args.DlqRedrive) error {
	if a.engine() != "" {
		return &args.Error{Message: d.ID + " is a message, and only workers can send messages of this server", Hint: "Retry its run: flowrun retry " + d.Run + a.engineHints()}
	}
	ctx := context.Background()
	if err := a.resumeSession(ctx, s, d.Run, &r.Given, values.Renewal{All: true}); err != nil {
		return err
	}
	defer s.Release(d.Run)
	p, err := s.Pinned(ctx, d.Run)
	if err != nil {
		return err
	}
	request := event.DeadRequest{ID: d.ID, Close: true}
	why := s.Resend(ctx, p, *d.Channel, *d.Message)
	if why != nil {
		request = event.DeadRequest{ID: d.ID, FailedAgain: why.Error()}
	}
	if _, err := s.Ask(ctx, event.StoreRequest{Dead: &request}); err != nil {
		return err
	}
	switch {
	case why != nil:
		return fmt.Errorf("%s could not be sent to channel %q: %s", d.ID, *d.Channel, ui.CleanLines(why.Error()))
	case r.JSON:
		return ui.WriteJSON(a.out, map[string]any{"sent": d.ID, "channel": *d.Channel})
	}
	a.out.Printf("%s is sent to channel %q\n", d.ID, ui.Clean(*d.Channel))
	return nil
}

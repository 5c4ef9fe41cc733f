package app

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newLoopStatusCommand() *cobra.Command {
	var o args.LoopControl
	c := &cobra.Command{
		Use: "status NAME", Short: "Show how a loop stands", Args: between(1, 1, "NAME"),
		Long: "status shows whether a loop runs, what people want of it, which of its agents have which items, and how many items wait in the dispatch queue.",
		RunE: func(_ *cobra.Command, words []string) error {
			o.Name = words[0]
			return a.runLoopStatus(&o)
		},
	}
	loopFlags(c, &o)
	return c
}

func (a *app) runLoopStatus(o *args.LoopControl) error {
	s, err := a.readLoopStatus(o.Name)
	if err != nil {
		return err
	}
	if o.JSON {
		return ui.WriteJSON(a.out, s)
	}
	a.out.Printf("loop %s: %s\n", ui.Clean(s.Loop), ui.Clean(s.Status))
	if s.Run != "" {
		a.out.Printf("run: %s, started %s\n", s.Run, s.Started)
	}
	if c, err := event.LoopControlOf(s.Control); err == nil && (c.Stopped || len(c.Paused) > 0) {
		for _, line := range controlWords(&c) {
			a.out.Printf("%s\n", ui.Clean(line))
		}
	}
	for _, item := range s.Items {
		c, err := event.ClaimOf(item)
		if err != nil {
			return err
		}
		a.out.Printf("%s  %s  %s  since %s  %s\n", ui.Clean(c.Agent), ui.Clean(c.Item), c.State, ui.Duration(time.Since(c.Since.Go())), ui.Clean(c.Title))
	}
	a.out.Printf("dispatched and free: %d\n", s.Queue)
	return nil
}

// readLoopStatus reads how a loop stands. Where there is no store, it has never run.
func (a *app) readLoopStatus(name string) (serve.LoopStatus, error) {
	dir, err := a.storeDir("")
	if err != nil {
		return serve.LoopStatus{}, err
	}
	store, err := a.openExisting(dir, nil)
	if errors.Is(err, engine.ErrNoStore) {
		control := event.LoopControl{Loop: name}
		return serve.LoopStatus{Loop: name, Status: "none", Control: control.Object(), Items: []value.Value{}}, nil
	}
	if err != nil {
		return serve.LoopStatus{}, err
	}
	defer store.Close()
	return serve.ReadLoop(context.Background(), store, name)
}

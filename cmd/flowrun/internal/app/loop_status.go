package app

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
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

// loopStatus is the output of loop status with --json.
type loopStatus struct {
	Loop    string        `json:"loop"`
	Run     string        `json:"run,omitempty"`
	Status  string        `json:"status"` // running, interrupted, or how its newest run ended; none
	Driver  int           `json:"driver,omitempty"`
	Started string        `json:"started,omitempty"`
	Control value.Value   `json:"control"`
	Items   []value.Value `json:"items"`
	Queue   int           `json:"queue"`
}

func (a *app) runLoopStatus(o *args.LoopControl) error {
	claims, err := a.loopClaims(o.Name)
	if err != nil {
		return err
	}
	control, err := a.askShared(event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopRead, Loop: o.Name}}, readsStore)
	if err != nil {
		return err
	}
	list, err := a.askShared(event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchList, Queue: event.QueueDispatch}}, readsStore)
	if err != nil {
		return err
	}
	s := loopStatus{Loop: o.Name, Status: "none", Control: control, Items: []value.Value{}}
	if work, is := list.(map[string]any); is {
		items, _ := work["items"].([]any)
		for _, i := range items {
			if row, _ := i.(map[string]any); row["closed"] != true && row["state"] == string(event.ClaimOpen) {
				s.Queue++
			}
		}
	}
	for i := range claims {
		if c := &claims[i]; c.State == event.ClaimHeld || c.State == event.ClaimParked {
			s.Items = append(s.Items, c.Object())
		}
	}
	if err := a.fillLoopStatus(&s); err != nil {
		return err
	}
	if o.JSON {
		return ui.WriteJSON(a.out, s)
	}
	a.out.Printf("loop %s: %s\n", ui.Clean(s.Loop), ui.Clean(s.Status))
	if s.Run != "" {
		a.out.Printf("run: %s, started %s\n", s.Run, s.Started)
	}
	if c, err := event.LoopControlOf(control); err == nil && (c.Stopped || len(c.Paused) > 0) {
		for _, line := range controlWords(&c) {
			a.out.Printf("%s\n", ui.Clean(line))
		}
	}
	for i := range claims {
		if c := &claims[i]; c.State == event.ClaimHeld || c.State == event.ClaimParked {
			a.out.Printf("%s  %s  %s  since %s  %s\n", ui.Clean(c.Agent), ui.Clean(c.Item), c.State, ui.Duration(time.Since(c.Since.Go())), ui.Clean(c.Title))
		}
	}
	a.out.Printf("dispatched and free: %d\n", s.Queue)
	return nil
}

// fillLoopStatus adds what the newest run of a loop says.
func (a *app) fillLoopStatus(s *loopStatus) error {
	dir, err := a.storeDir("")
	if err != nil {
		return err
	}
	store, err := a.openExisting(dir, nil)
	if errors.Is(err, engine.ErrNoStore) {
		return nil
	}
	if err != nil {
		return err
	}
	defer store.Close()
	all, err := store.List(context.Background(), 0)
	for _, info := range all {
		if info.Workflow != s.Loop || info.Parent != "" {
			continue
		}
		s.Run, s.Driver, s.Started, s.Status = info.Run, info.Driver, info.Created.String(), string(info.Status)
		switch {
		case info.Driver != 0:
			s.Status = "running"
		case info.Interrupted():
			s.Status = "interrupted"
		}
		break
	}
	return err
}

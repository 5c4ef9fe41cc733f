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
		Use: "status [NAME]", Short: "Show the state of a loop, or of all loops", Args: between(0, 1, "[NAME]"),
		Long: `status shows whether a loop runs, is paused or stopped, which agent has which item, and how many items wait in the dispatch queue. For a loop with a target block, it shows the figures of the last 24 hours, and the missed targets. With --json and the name of a running loop, it also shows what each agent has and takes next, from the last lists of the sources, and why no agent takes the other items. Without a name, it shows all registered loops, and all loops that have run.`,
		RunE: func(_ *cobra.Command, words []string) error {
			if len(words) > 0 {
				o.Name = words[0]
			}
			return a.runLoopStatus(&o)
		},
	}
	loopFlags(c, &o)
	return c
}

func (a *app) runLoopStatus(o *args.LoopControl) error {
	list, err := a.readLoopStatus(o.Name)
	if err != nil {
		return err
	}
	switch {
	case o.JSON && o.Name != "":
		return ui.WriteJSON(a.out, list[0])
	case o.JSON:
		return ui.WriteJSON(a.out, serve.Loops{Loops: list})
	case len(list) == 0:
		a.err.Printf("No loop in this store is registered or has run.\n")
		return nil
	}
	for i := range list {
		if err := a.printLoopStatus(&list[i]); err != nil {
			return err
		}
	}
	a.out.Printf("dispatched and free: %d\n", list[0].Queue)
	return nil
}

// readLoopStatus reads how a loop stands, or with "" all loops. Where there is no store, none has ever run.
func (a *app) readLoopStatus(name string) ([]serve.LoopStatus, error) {
	dir, err := a.storeDir("")
	if err != nil {
		return nil, err
	}
	store, err := a.openExisting(dir, nil)
	switch {
	case errors.Is(err, engine.ErrNoStore) && name == "":
		return []serve.LoopStatus{}, nil
	case errors.Is(err, engine.ErrNoStore):
		control := event.LoopControl{Loop: name}
		return []serve.LoopStatus{{Loop: name, Status: "none", Control: control.Object(), Items: []value.Value{}}}, nil
	case err != nil:
		return nil, err
	}
	defer store.Close()
	ctx := context.Background()
	var list []serve.LoopStatus
	if name == "" {
		list, err = serve.ReadLoops(ctx, store)
	} else {
		list = make([]serve.LoopStatus, 1)
		list[0], err = serve.ReadLoop(ctx, store, name)
	}
	for i := range list {
		serve.LookAgain(ctx, dir, list[i].Worktrees)
	}
	return list, err
}

func (a *app) printLoopStatus(s *serve.LoopStatus) error {
	a.out.Printf("loop %s: %s\n", ui.Clean(s.Loop), ui.Clean(s.Status))
	if s.Program != "" {
		a.out.Printf("registered by %s\n", ui.Clean(s.Program))
	}
	if s.Run != "" {
		a.out.Printf("run: %s, started %s\n", s.Run, s.Started)
	}
	if c, err := event.LoopControlOf(s.Control); err == nil && (c.Stopped || len(c.Paused) > 0) {
		for _, line := range controlWords(&c) {
			a.out.Printf("%s\n", ui.Clean(line))
		}
	}
	for i := range s.Targets {
		a.out.Printf("%s\n", ui.Clean(s.Targets[i].Words))
	}
	for i := range s.Worktrees {
		a.out.Printf("%s\n", ui.Clean(s.Worktrees[i].Words()))
	}
	for _, item := range s.Items {
		c, err := event.ClaimOf(item)
		if err != nil {
			return err
		}
		a.out.Printf("%s  %s  %s  since %s  %s\n", ui.Clean(c.Agent), ui.Clean(c.Item), c.State, ui.Duration(time.Since(c.Since.Go())), ui.Clean(c.Title))
	}
	return nil
}

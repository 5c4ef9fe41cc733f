package app

import (
	"context"
	"math"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/engine"
)

func (a *app) newTimelineCommand() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use: "timeline RUN", Short: "Show the critical path of a run, and the waits of its nodes", Args: between(1, 1, "RUN"),
		Long: `timeline shows the critical path of a run that has ended: each of its nodes waited for
the node before it, and the last one ended last. Then timeline shows how long all nodes waited, by kind. With --json it prints each node with its attempts and waits.`,
		RunE: func(_ *cobra.Command, words []string) error {
			return a.withRun(words[0], nil, func(s *store, info engine.Info) error {
				d, err := serve.ReadTimeline(context.Background(), s, info, serve.TimelinePart{Most: math.MaxInt32})
				if err != nil {
					return err
				}
				if asJSON {
					return ui.WriteJSON(a.out, d)
				}
				ui.Timeline(a.out, &d)
				return nil
			})
		},
	}
	jsonFlag(c, &asJSON)
	return c
}

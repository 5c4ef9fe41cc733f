package app

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/engine"
)

func (a *app) cancel() *cobra.Command {
	var r args.Runs
	c := &cobra.Command{
		Use: "cancel RUN", Short: "Stop a run for good", Args: between(1, 1, "RUN"),
		Long: `cancel asks whichever process drives the run to end it, and returns when the wish is durable. A run that nobody drives
is ended here and now. A second cancel does not wait for attempts that do not end.`,
		RunE: func(_ *cobra.Command, words []string) error {
			r.Run = words[0]
			if err := r.Check(); err != nil {
				return err
			}
			s, info, err := a.lookup(&r, true)
			if err != nil {
				return err
			}
			defer s.Close()
			if info.Status.Terminal() {
				a.err.Printf("run %s had ended before: %s\n", info.Run, info.Status)
				return nil
			}
			ctx := context.Background()
			if err := s.Cancel(ctx, info.Run, r.Reason); err != nil {
				return err
			}
			end, err := s.Drive(ctx, info.Run, nil)
			switch {
			case errors.Is(err, engine.ErrOwned):
				a.err.Printf("run %s: its process was asked to end it\n", info.Run)
				return nil
			case err != nil:
				return err
			}
			a.err.Printf("run %s: %s\n", info.Run, ui.Clean(string(end.Status)))
			return nil
		},
	}
	c.Flags().StringVar(&r.Reason, "reason", "", "why, for those who look at the run later")
	return c
}

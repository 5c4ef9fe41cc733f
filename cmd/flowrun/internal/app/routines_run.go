package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
)

func (a *app) newRoutinesRunCommand() *cobra.Command {
	var r args.RoutinesChange
	c := &cobra.Command{
		Use: "run NAME", Short: "Start a run of a routine now, and drive it", Args: between(1, 1, "NAME"),
		Long: `run starts the workflow of a registered routine with the inputs of the routine, also while the routine is paused, and drives the run to its end.
run.cause of the run names the routine; its scheduled_at is null. If another run of the routine is running, overlap decides. The
exit code is that of the run.`,
		RunE: func(_ *cobra.Command, names []string) error {
			r.Name, a.asJSON = names[0], r.JSON
			if err := r.Drive.Check(); err != nil {
				return err
			}
			return a.runRoutinesRun(&r)
		},
	}
	c.Flags().BoolVar(&r.JSON, "json", false, "events as JSON lines on standard output")
	deathLimitFlag(c, &r.Drive)
	noWaitFlag(c, &r.Drive)
	return c
}

func (a *app) runRoutinesRun(r *args.RoutinesChange) error {
	if _, err := a.findRoutine(r.Name); err != nil {
		return err
	}
	process.CollectWithin(a.getenv)
	dir, err := a.storeDir("")
	if err != nil {
		return err
	}
	s, err := a.openStore(dir, r.Drive)
	if err != nil {
		return err
	}
	defer s.Close()
	ctx := context.Background()
	run, err := s.RunRoutine(ctx, r.Name)
	if err != nil {
		return err
	}
	info, err := a.findRun(ctx, s, run)
	if err != nil {
		return err
	}
	return a.continueRun(ctx, s, info, &args.Given{}, &r.Drive, nil, r.JSON, false)
}

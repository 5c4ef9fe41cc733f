package app

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/standalone"
)

func (a *app) newPruneCommand() *cobra.Command {
	var r args.Prune
	c := &cobra.Command{
		Use: "prune", Short: "Remove ended runs, their called runs and their logs", Args: between(0, 0, ""),
		Long: `prune removes runs that have ended: their journals, their log files and the runs that they called. Choose the runs with --keep N or
--older-than AGE: the N newest runs stay, and runs that ended less than AGE ago stay. With both flags, prune removes runs that both
allow. A run that can still be resumed stays; with --all, only a run that a process drives now stays. The newest run of a loop stays too,
because the next one removes the rest. Removed runs cannot be restored.
--dry-run shows the runs that prune would remove. The database keeps the free space for later runs; --vacuum gives it back to the disk,
and other processes wait meanwhile.`,
		RunE: func(*cobra.Command, []string) error {
			a.asJSON = r.JSON
			if err := r.Check(); err != nil {
				return err
			}
			return a.runPrune(&r)
		},
	}
	f := c.Flags()
	f.IntVar(&r.Keep, "keep", -1, "keep the `N` newest runs")
	f.Lookup("keep").DefValue = "0" // which help leaves out: there is none that means something
	f.StringVar(&r.OlderThan, "older-than", "", "only runs that ended longer ago than this `age`: 30d, 12h")
	f.BoolVar(&r.All, "all", false, "also remove runs that have not ended, if no process drives them")
	f.BoolVar(&r.DryRun, "dry-run", false, "remove nothing; show which runs would be removed")
	f.BoolVar(&r.Vacuum, "vacuum", false, "make the database smaller afterwards")
	f.BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}

// runPrune removes runs that have ended, and says which.
func (a *app) runPrune(r *args.Prune) error {
	dir, err := a.storeDir("")
	if err != nil {
		return err
	}
	ctx, release := process.UntilSignalLooking()
	defer release()
	drive := &args.Drive{MakeDo: true}
	if r.DryRun {
		drive = nil
	}
	s, err := a.openExisting(dir, drive)
	if errors.Is(err, engine.ErrNoStore) {
		ui.Pruned(a.out, nil, r.DryRun, r.JSON)
		return nil
	}
	if err != nil {
		return err
	}
	defer s.Close()
	removed, err := s.Prune(ctx, standalone.Prune{Keep: r.Keep, Age: r.Age, All: r.All, DryRun: r.DryRun})
	list := make([]ui.PrunedRun, len(removed))
	for i := range removed {
		list[i] = ui.PrunedRun{Listed: ui.NewListed(&removed[i].Info), Bytes: removed[i].Bytes, LogBytes: removed[i].LogBytes}
	}
	if err == nil || len(list) > 0 && !r.DryRun {
		ui.Pruned(a.out, list, r.DryRun, r.JSON)
	}
	if err != nil {
		return err
	}
	if r.Vacuum && !r.DryRun {
		return a.vacuumAfterPrune(s)
	}
	return nil
}

func (a *app) vacuumAfterPrune(s *store) error {
	before, err := s.FileSize()
	if err == nil {
		err = s.Vacuum()
	}
	if err != nil {
		return fmt.Errorf("making the database smaller: %w", err)
	}
	after, err := s.FileSize()
	if err == nil {
		a.err.Printf("The database had %s and has %s now.\n", ui.Bytes(uint64(before)), ui.Bytes(uint64(after)))
	}
	return err
}

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
		Use: "prune", Short: "Remove runs that have ended, with all that they called and their logs", Args: between(0, 0, ""),
		Long: `prune removes runs that have ended: their journals, log files and the runs that they called. It says which, so --keep N or
--older-than AGE must: the N newest stay, and so does what ended more recently. Both together remove what both allow. A run that can
still be resumed stays; with --all, only one that is driven now does. What is removed is gone. --dry-run says what would be. The database
keeps the space for runs to come; --vacuum gives it back, and lets others wait while it does.`,
		RunE: func(*cobra.Command, []string) error {
			a.asJSON = r.JSON
			if err := r.Check(); err != nil {
				return err
			}
			return a.runPrune(&r)
		},
	}
	f := c.Flags()
	f.IntVar(&r.Keep, "keep", -1, "the `N` newest runs stay")
	f.Lookup("keep").DefValue = "0" // which help leaves out: there is none that means something
	f.StringVar(&r.OlderThan, "older-than", "", "only what ended longer ago than this `age`: 30d, 12h")
	f.BoolVar(&r.All, "all", false, "also runs that have not ended, if nobody drives them")
	f.BoolVar(&r.DryRun, "dry-run", false, "remove nothing, and say what would be")
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
		a.err.Printf("The database took %s and takes %s.\n", ui.Bytes(uint64(before)), ui.Bytes(uint64(after)))
	}
	return err
}

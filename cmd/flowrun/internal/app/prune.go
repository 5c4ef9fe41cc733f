package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/live"
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

// runPrune removes runs one after another, each with the runs that it called.
func (a *app) runPrune(r *args.Prune) error {
	dir, err := a.storeDir("")
	if err != nil {
		return err
	}
	ctx, release := untilSignalLooking()
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
	trees, err := s.prunable(ctx, r)
	if err != nil {
		return err
	}
	var list []ui.PrunedRun
	for _, tree := range trees {
		told, ids, err := s.told(ctx, tree)
		if err != nil {
			return err
		}
		if !r.DryRun {
			if err := s.removeTree(ctx, ids, r.All); err != nil {
				ui.Pruned(a.out, list, false, r.JSON)
				return err
			}
		}
		list = append(list, told...)
	}
	if !r.DryRun {
		if err := s.Sweep(ctx); err != nil { // the rest of an earlier prune
			return err
		}
	}
	ui.Pruned(a.out, list, r.DryRun, r.JSON)
	if r.Vacuum && !r.DryRun {
		return a.vacuumStore(s)
	}
	return nil
}

// prunable lists the runs that may be removed, each with all runs that it called, the oldest first.
func (s *store) prunable(ctx context.Context, r *args.Prune) (trees [][]engine.Info, err error) {
	all, err := s.List(ctx, 0)
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for i := range all {
		there[all[i].Run] = true
	}
	kept := 0
	for _, info := range all {
		if info.Parent != "" && there[info.Parent] {
			continue
		}
		if kept++; kept <= r.Keep || r.Age > 0 && (info.Ended == 0 && info.Created > oldestKept(r.Age) || info.Ended > oldestKept(r.Age)) {
			continue
		}
		tree, err := s.Tree(ctx, info.Run)
		if errors.Is(err, engine.ErrNoRun) {
			continue // somebody else prunes, too
		}
		if err != nil {
			return nil, err
		}
		if removable(tree, r.All) {
			trees = append([][]engine.Info{tree}, trees...)
		}
	}
	return trees, nil
}

func oldestKept(age time.Duration) event.Time { return event.At(time.Now().Add(-age)) }

// removable reports whether all runs of a tree may be removed.
func removable(tree []engine.Info, all bool) bool {
	for i := range tree {
		if tree[i].Driver != 0 || tree[i].Ended == 0 && !all {
			return false
		}
	}
	return true
}

// told lists the runs that are removed with a tree, with their sizes.
func (s *store) told(ctx context.Context, tree []engine.Info) (list []ui.PrunedRun, ids []string, err error) {
	for i := range tree {
		bytes, err := s.Size(ctx, tree[i].Run)
		if err != nil {
			return nil, nil, err
		}
		if err := engine.CheckID(tree[i].Run); err != nil {
			return nil, nil, fmt.Errorf("nothing is removed: %w; see flowrun doctor", err)
		}
		logs, err := folderSize(filepath.Join(s.Dir(), standalone.LogsDir, tree[i].Run))
		if err != nil {
			return nil, nil, err
		}
		list, ids = append(list, ui.PrunedRun{Listed: newListed(&tree[i]), Bytes: bytes, LogBytes: logs}), append(ids, tree[i].Run)
	}
	return list, ids, nil
}

// removeTree removes runs and their logs. The logs go last, because nobody looks for the logs of a
// removed run.
func (s *store) removeTree(ctx context.Context, ids []string, all bool) error {
	if err := s.Remove(ctx, ids, all); err != nil {
		return err
	}
	for _, id := range ids {
		if err := engine.CheckID(id); err != nil {
			return err
		}
		if err := os.RemoveAll(filepath.Join(s.Dir(), standalone.LogsDir, id)); err != nil {
			return fmt.Errorf("removing the logs of run %s: %w", id, err)
		}
		_ = live.Remove(s.Dir(), id) // mostly it has none
	}
	return nil
}

func folderSize(dir string) (bytes int64, err error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			bytes += info.Size()
		}
	}
	return bytes, err
}

func (a *app) vacuumStore(s *store) error {
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

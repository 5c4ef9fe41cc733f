package standalone

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/live"
)

// Prune says which runs are removed. A run goes with all runs that it called, or stays with them. The newest run of a loop always stays: the
// next one goes on with what it has left.
type Prune struct {
	Keep   int           // the newest runs that stay; negative means none
	Age    time.Duration // a run that ended, or began, less than this ago stays; 0 means that its age does not matter
	All    bool          // also runs that have not ended, if no process drives them
	DryRun bool          // remove nothing
}

// Pruned is a run that was removed, or would be, with the sizes of what it took.
type Pruned struct {
	engine.Info
	Bytes    int64 // of the journal
	LogBytes int64 // of the logs
}

// Prune removes runs, one tree after another, the oldest first. It returns the removed runs also with an error, and completes
// removals that were interrupted.
func (s *Store) Prune(ctx context.Context, w Prune) (removed []Pruned, err error) {
	trees, err := s.prunable(ctx, w)
	if err != nil {
		return nil, err
	}
	for _, tree := range trees {
		sized, err := s.measureTree(ctx, tree)
		if err == nil && !w.DryRun {
			err = s.removeTree(ctx, tree, w.All)
		}
		if err != nil {
			return removed, err
		}
		removed = append(removed, sized...)
	}
	if w.DryRun {
		return removed, nil
	}
	return removed, s.Sweep(ctx)
}

// prunable lists the trees of runs that may be removed, the oldest first.
func (s *Store) prunable(ctx context.Context, w Prune) (trees [][]engine.Info, err error) {
	all, err := s.List(ctx, 0)
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for i := range all {
		there[all[i].Run] = true
	}
	loops, err := s.Loops(ctx)
	if err != nil {
		return nil, err
	}
	needed := map[string]bool{}
	for i := range loops {
		if run := loops[i].Run; run != nil {
			needed[run.Run] = true
		}
	}
	kept, oldest := 0, event.At(time.Now().Add(-w.Age))
	for _, info := range all {
		if info.Parent != "" && there[info.Parent] {
			continue
		}
		last := info.Ended
		if last == 0 {
			last = info.Created
		}
		if kept++; kept <= w.Keep || w.Age > 0 && last > oldest {
			continue
		}
		tree, err := s.Tree(ctx, info.Run)
		if errors.Is(err, engine.ErrNoRun) {
			continue // another process prunes, too
		}
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(tree, func(i engine.Info) bool { return i.Driver != 0 || i.Ended == 0 && !w.All || needed[i.Run] }) {
			trees = append(trees, tree)
		}
	}
	slices.Reverse(trees)
	return trees, nil
}

// measureTree returns the runs of a tree with their sizes. It refuses ids that could name other files.
func (s *Store) measureTree(ctx context.Context, tree []engine.Info) (list []Pruned, err error) {
	for _, info := range tree {
		p := Pruned{Info: info}
		if p.Bytes, err = s.Size(ctx, info.Run); err == nil {
			err = engine.CheckID(info.Run)
		}
		if err == nil {
			p.LogBytes, err = s.Logs().Size(info.Run)
		}
		if err != nil {
			return nil, fmt.Errorf("removing run %q: %w", info.Run, err)
		}
		list = append(list, p)
	}
	return list, nil
}

// removeTree removes runs and their logs. The logs go last, because nobody looks for the logs of a removed run.
func (s *Store) removeTree(ctx context.Context, tree []engine.Info, unfinished bool) error {
	var ids []string
	for i := range tree {
		ids = append(ids, tree[i].Run)
	}
	if err := s.Remove(ctx, ids, unfinished); err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.Logs().Remove(id); err != nil {
			return err
		}
		_ = live.Remove(s.Dir(), id) // few runs have one
	}
	return nil
}

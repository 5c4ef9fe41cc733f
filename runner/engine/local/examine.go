package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/journal"
)

// MaxChecked bounds the databases that a partial examination checks, in bytes: the check reads all
// pages.
const MaxChecked = 64 << 20

// Examine reads the newest runs' journals, or all with newest 0, and compares them with their rows,
// definitions and marks. Runs may be driven meanwhile. It changes nothing. An error means that the
// examination failed as a whole; the result holds the problems of single runs.
func (e *Engine) Examine(ctx context.Context, newest int) (h engine.Health, err error) {
	defer func() { err = e.explainError(err) }()
	h.Log = logSize(e.dir)
	h.Reserve.Size, h.Reserve.NeedsFree = ReserveSize, ReserveFrom
	if info, err := os.Lstat(filepath.Join(e.dir, reserveFile)); err == nil {
		h.Reserve.Made = info.Size() == ReserveSize
	}
	if h.Dead, err = e.deadDrivers(); err != nil {
		return h, err
	}
	if h.Version, err = schemaVersion(e.read.QueryRowContext(ctx, "PRAGMA user_version")); err != nil {
		return h, err
	}
	if newest == 0 || e.file.Size() <= MaxChecked {
		var says string
		if err := e.read.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&says); err != nil {
			return h, err
		}
		if says != "ok" {
			h.Database = says
		}
	}
	if err := e.read.QueryRowContext(ctx, "SELECT count(*) FROM runs WHERE status != ?", pruned).Scan(&h.Runs); err != nil {
		return h, err
	}
	runs, err := readTexts(e.read.QueryContext(ctx, "SELECT id FROM runs WHERE status != ? ORDER BY created DESC, key DESC LIMIT ?", pruned, limitOf(newest)))
	if err == nil {
		err = e.examineRuns(ctx, runs, &h)
	}
	if err == nil && newest == 0 {
		err = e.findMissing(ctx, &h)
	}
	return h, err
}

// examineRuns examines one run after another. It does not count a run that was removed since the
// list was made.
func (e *Engine) examineRuns(ctx context.Context, runs []string, h *engine.Health) error {
	for _, run := range runs {
		err := e.examineRun(ctx, run, h)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, engine.ErrNoRun):
			h.Runs--
			continue
		case err != nil:
			h.Broken = append(h.Broken, engine.Broken{Run: run, Err: e.explainError(err)})
		}
		h.Checked++
	}
	return nil
}

// findMissing looks for runs that have a mark and nothing else.
func (e *Engine) findMissing(ctx context.Context, h *engine.Health) error {
	marks, err := os.ReadDir(filepath.Join(e.dir, marksDir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, m := range marks {
		_, err := e.Get(ctx, m.Name())
		if errors.Is(err, journal.ErrBroken) {
			h.Broken = append(h.Broken, engine.Broken{Run: m.Name(), Err: err})
		} else if err != nil && !errors.Is(err, engine.ErrNoRun) {
			return err
		}
	}
	return nil
}

// examineRun looks at one run. The mark is read first: the journal may grow meanwhile, and is never behind it.
func (e *Engine) examineRun(ctx context.Context, run string, h *engine.Health) error {
	if err := engine.CheckID(run); err != nil { // it is about to be a file's name
		return fmt.Errorf("%w: %w", journal.ErrBroken, err)
	}
	marked, at, err := readMark(e.markPath(run), run)
	if err != nil {
		return err
	}
	c, err := e.scanRun(e.read.QueryRowContext(ctx, runRow, run).Scan, run)
	if err != nil {
		return unmarkError(err)
	}
	definition, err := e.definition(ctx, c.header)
	if err != nil {
		return e.explainMissing(ctx, &c, err)
	}
	r, files := journal.NewReader(c.header), e.artifacts.Run(run)
	err = e.eachBatch(ctx, &c, 0, func(b journal.Batch) error {
		events, err := r.Read(b)
		for _, ev := range events {
			for _, a := range ev.Artifacts() {
				if err != nil {
					break
				}
				if err = files.Check(a); err != nil {
					err = fmt.Errorf("%w: run %s, event %d: %w", journal.ErrBroken, run, ev.Seq, err)
				}
			}
		}
		return err
	})
	if err == nil {
		err = c.checkEnd()
	}
	if err == nil {
		err = compareMark(run, marked, at, c.seq, c.link)
	}
	if err != nil {
		return err
	}
	if had, odd := e.examineSnapshot(ctx, &c, definition); had {
		h.Snapshots++
		if odd != nil && ctx.Err() == nil {
			h.Odd = append(h.Odd, engine.Broken{Run: run, Err: odd})
		}
	}
	return nil
}

// deadDrivers returns the drivers with locks that no process holds, except drivers that ended in
// order.
func (e *Engine) deadDrivers() (dead []int64, err error) {
	epochs, err := lockFiles(e.dir)
	if err != nil {
		return nil, err
	}
	for _, epoch := range epochs {
		alive, err := isLocked(e.lockPath(epoch))
		if err != nil {
			return nil, err
		}
		if !alive && !e.leftInOrder(epoch) {
			dead = append(dead, epoch)
		}
	}
	return dead, nil
}

package local

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/flowrun/flowrun/runner/admission"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/shared"
)

// Bounds of one transaction of a prune, so that those who drive runs meanwhile are not held up: it takes as long as a large commit.
const (
	pruneBatches = 64
	pruneBytes   = 4 << 20
)

// pruned is the status of a run that is being removed. Nobody sees it any more; where its removal was cut off, the next one
// goes on.
const pruned = "pruned"

// Tree lists a run and all that it called, directly or not, callers first.
func (e *Engine) Tree(ctx context.Context, run string) (list []engine.Info, err error) {
	top, err := e.Get(ctx, run)
	if err != nil {
		return nil, err
	}
	list = []engine.Info{top}
	seen := map[string]bool{top.Run: true} // a stranger's runs may call each other in a circle
	for i := 0; i < len(list); i++ {
		below, err := e.readInfos(ctx, "AND r.parent = ? ORDER BY r.key", list[i].Run)
		if err != nil {
			return nil, err
		}
		for _, info := range below {
			if !seen[info.Run] {
				seen[info.Run] = true
				list = append(list, info)
			}
		}
	}
	return list, nil
}

// Size is how many bytes a run's journal and its artifacts take.
func (e *Engine) Size(ctx context.Context, run string) (bytes int64, err error) {
	err = e.read.QueryRowContext(ctx, `SELECT coalesce(sum(length(body)), 0) FROM batches
		WHERE run = (SELECT key FROM runs WHERE id = ?)`, run).Scan(&bytes)
	if err != nil || engine.CheckID(run) != nil {
		return bytes, e.explainError(err)
	}
	beside, err := e.artifacts.Run(run).Size()
	return bytes + beside, err
}

// Remove removes runs for ever: their journals, marks, and rows. That makes room, so it may spend the reserve. It refuses, before
// anything is removed, if one of them is driven, or has not ended and unfinished is not set. Once it has begun, none of them can be
// seen any more, whatever happens.
func (e *Engine) Remove(ctx context.Context, runs []string, unfinished bool) error {
	var answers []admission.Answer
	err := e.writeUrgent(func(tx *transaction) error {
		answers = nil
		for _, run := range runs {
			if err := e.removable(tx, run, unfinished); err != nil {
				return err
			}
		}
		for _, run := range runs {
			var requests int
			if err := tx.readRow("SELECT count(*) FROM admissions WHERE run = ?", []any{run}, &requests); err != nil {
				return err
			}
			if requests > 0 {
				var answer admission.Answer
				if err := e.removeLost(tx, run, &answer); err != nil {
					return err
				}
				answers = append(answers, answer)
			}
			if _, err := tx.exec("UPDATE runs SET status = ?, owner = NULL, ended = max(ended, 1) WHERE id = ?", pruned, run); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return e.explainError(err)
	}
	for _, answer := range answers {
		e.tellGranted(answer)
	}
	return e.sweepRemoved(ctx)
}

// removable refuses a run that somebody may want.
func (e *Engine) removable(tx *transaction, run string, unfinished bool) error {
	if err := engine.CheckID(run); err != nil {
		return refused{err}
	}
	var ended, owner, parked int64
	err := tx.readRow("SELECT ended, coalesce(owner, 0), coalesce(parked, 0) FROM runs WHERE id = ?", []any{run}, &ended, &owner, &parked)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, epoch := range []int64{owner, parked} {
		if epoch == 0 {
			continue
		}
		alive, err := isLocked(e.lockPath(epoch))
		if err != nil {
			return err
		}
		if alive {
			return refused{fmt.Errorf("run %s is driven now", run)}
		}
	}
	if t, err := e.turnOf(tx.reading, run); err != nil {
		return err
	} else if t != nil && t.waits {
		alive, err := isLocked(e.lockPath(t.epoch))
		if err != nil {
			return err
		}
		if alive && t.epoch != e.driverEpoch() {
			return refused{fmt.Errorf("run %s waits for its turn in the group %q, in another process", run, t.group)}
		}
	}
	if ended == 0 && !unfinished {
		return refused{fmt.Errorf("run %s has not ended", run)}
	}
	return nil
}

// Sweep removes the rest of runs that are being removed, the programs that no run uses any more, and the artifacts that a crash has
// left. It reads the journals of all ended runs with artifacts.
func (e *Engine) Sweep(ctx context.Context) error {
	if err := e.sweepRemoved(ctx); err != nil {
		return err
	}
	return e.explainError(errors.Join(e.cleanSnapshots(ctx), e.cleanArtifacts(ctx)))
}

// sweepRemoved removes the rest of runs that are being removed, in small transactions, and the programs that no run uses any more.
func (e *Engine) sweepRemoved(ctx context.Context) error {
	rows, err := e.read.QueryContext(ctx, "SELECT key, id FROM runs WHERE status = ?", pruned)
	if err != nil {
		return e.explainError(err)
	}
	keys, ids, err := readKeys(rows)
	if err != nil {
		return e.explainError(err)
	}
	for i, key := range keys {
		for more := true; more; {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if more, err = e.removeSome(key); err != nil {
				return err
			}
		}
		if engine.CheckID(ids[i]) == nil { // else it has no mark
			if err := os.Remove(e.markPath(ids[i])); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if engine.CheckID(ids[i]) == nil {
			if err := e.removeSnapshot(ids[i]); err != nil {
				return err
			}
			if err := e.artifacts.Run(ids[i]).Remove(); err != nil {
				return err
			}
		}
		err := e.writeUrgent(func(tx *transaction) error {
			if _, err := tx.exec("DELETE FROM inbox WHERE run = ?", key); err != nil {
				return err
			}
			if _, err := tx.exec("DELETE FROM admission_needs WHERE request IN (SELECT id FROM admissions WHERE run = (SELECT id FROM runs WHERE key = ?))", key); err != nil {
				return err
			}
			if _, err := tx.exec("DELETE FROM admissions WHERE run = (SELECT id FROM runs WHERE key = ?)", key); err != nil {
				return err
			}
			if err := e.removeTurn(tx, key); err != nil {
				return err
			}
			if err := errors.Join(shared.Forget(sharedRows{tx}, ids[i], e.now()), shared.ForgetDead(sharedRows{tx}, ids[i])); err != nil {
				return err
			}
			if err := shared.RemoveRun(sharedRows{tx}, ids[i]); err != nil {
				return err
			}
			_, err := tx.exec("DELETE FROM runs WHERE key = ?", key)
			return err
		})
		if err != nil {
			return e.explainError(err)
		}
	}
	return e.explainError(e.writeUrgent(func(tx *transaction) error {
		if _, err := tx.exec("DELETE FROM definitions WHERE hash NOT IN (SELECT definition FROM runs)"); err != nil {
			return err
		}
		_, err := tx.exec("DELETE FROM sources WHERE hash NOT IN (SELECT source FROM runs WHERE source IS NOT NULL)")
		return err
	}))
}

// strayAge is how old artifacts of a run that is not there must be to be removed: what a new run reuses is written before the run is
// there.
const strayAge = time.Hour

// cleanArtifacts removes the artifacts that a crash has left: those of runs that are not there, and those of ended runs that the
// journal does not name.
func (e *Engine) cleanArtifacts(ctx context.Context) error {
	ids, err := e.artifacts.Runs()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if engine.CheckID(id) != nil {
			continue // it is not ours
		}
		info, err := e.Get(ctx, id)
		if errors.Is(err, engine.ErrNoRun) {
			err = e.artifacts.Run(id).RemoveOld(strayAge)
		} else if err == nil && info.Ended != 0 {
			err = e.cleanRun(ctx, id)
		}
		if errors.Is(err, journal.ErrBroken) {
			continue // nobody knows what the journal names
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) cleanRun(ctx context.Context, run string) error {
	c, err := e.scanRun(e.read.QueryRowContext(ctx, runRow, run).Scan, run)
	if err != nil {
		return unmarkError(err)
	}
	named, reader := map[string]bool{}, journal.NewReader(c.header)
	err = e.eachBatch(ctx, &c, 0, func(b journal.Batch) error {
		events, err := reader.Read(b)
		for _, ev := range events {
			for _, a := range ev.Artifacts() {
				named[a.Hash] = true
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	return e.artifacts.Run(run).Clean(named)
}

func readKeys(rows *sql.Rows) (keys []int64, ids []string, err error) {
	defer rows.Close()
	for rows.Next() {
		var key int64
		var id string
		if err := rows.Scan(&key, &id); err != nil {
			return nil, nil, err
		}
		keys, ids = append(keys, key), append(ids, id)
	}
	return keys, ids, rows.Err()
}

// removeSome removes some batches of a run, and reports whether there may be more.
func (e *Engine) removeSome(key int64) (more bool, err error) {
	err = e.writeUrgent(func(tx *transaction) error {
		var last sql.NullInt64
		err := tx.readRow(`SELECT max(first) FROM (SELECT first, sum(length(body)) OVER (ORDER BY first) - length(body) AS before
			FROM (SELECT first, body FROM batches WHERE run = ? ORDER BY first LIMIT ?)) WHERE before < ?`,
			[]any{key, pruneBatches, pruneBytes}, &last)
		if more = last.Valid; err != nil || !more {
			return err
		}
		_, err = tx.exec("DELETE FROM batches WHERE run = ? AND first <= ?", key, last.Int64)
		return err
	})
	return more, e.explainError(err)
}

// Vacuum gives the space that removed runs took back to the file system. Until it is done, others that write have to wait.
func (e *Engine) Vacuum() error {
	if e.commits == nil {
		return engine.ErrReadOnly
	}
	return e.explainError(e.commits.vacuum())
}

func (c *committer) vacuum() error {
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	if err := c.currentFailure(); err != nil {
		return err
	}
	for _, statement := range []string{"VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if _, err := c.conn.ExecContext(context.Background(), statement); err != nil {
			return explainBusy(err)
		}
	}
	return nil
}

// FileSize is how many bytes the database takes on the disk.
func (e *Engine) FileSize() (bytes int64, err error) {
	for _, name := range []string{databaseFile, databaseFile + "-wal"} {
		info, err := os.Lstat(filepath.Join(e.dir, name))
		if err == nil {
			bytes += info.Size()
		} else if !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	return bytes, nil
}

package local

import (
	"context"
	"database/sql"
	"slices"
	"sync"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// MinParked is how far away the next timer of a run must be for the run to be parked. Parking costs a commit, a sync of the
// mark, and a replay.
const MinParked = time.Second

// DriveUntilParked implements engine.Parker. A run is not parked while a run that it called lives.
func (e *Engine) DriveUntilParked(ctx context.Context, run string, w engine.Watcher) (event.End, error) {
	return e.driveRun(ctx, run, w, true)
}

// parkRun releases the run, if this drive parks runs and nothing is in flight. The error is *engine.Parked then.
func (d *drive) parkRun() error {
	due, idle := d.fold.Due()
	if !d.parks || !idle || len(d.live.cancel) > 0 || len(d.children.byRun) > 0 || due != 0 && due.Sub(d.pace.readClock()) < MinParked {
		return nil
	}
	parked := int64(0)
	err := d.engine.writeUrgent(func(tx *transaction) (err error) {
		parked, err = tx.exec(`UPDATE runs SET seq = ?, link = ?, owner = NULL, clean = 1, parked = owner, due = nullif(?, 0) WHERE key = ? AND owner = ?
			AND NOT EXISTS (SELECT 1 FROM inbox WHERE run = runs.key)`, int64(d.run.seq), d.run.link[:], int64(due), d.run.key, d.run.epoch)
		return err
	})
	if err != nil {
		return err
	}
	if parked == 0 { // a message has come, or another process took the run over
		d.poke()
		return nil
	}
	return &engine.Parked{Run: d.run.id, Due: due}
}

// unwanted is true of the row r of a run that is not to wait for its turn any more: it was cancelled before it began, or twice.
const unwanted = "r.cancels > (r.pending IS NULL)"

// parkQueued lets go of a run that waits for its turn, unless it is unwanted. The error is *engine.Parked then.
func (e *Engine) parkQueued(t *turn, epoch int64) error {
	parked := int64(0)
	err := e.write(func(tx *transaction) (err error) {
		parked, err = tx.exec("UPDATE runs AS r SET parked = ?1, due = NULL WHERE key = ?2 AND NOT ("+unwanted+
			") AND EXISTS (SELECT 1 FROM turns WHERE run = r.key AND epoch = ?1 AND waits = 1)", epoch, t.key)
		return err
	})
	if err == nil && parked > 0 {
		err = &engine.Parked{Run: t.run}
	}
	return err
}

// unparkRuns gives up the runs that a process parked.
func (tx *transaction) unparkRuns(epoch int64) error {
	_, err := tx.exec("UPDATE runs SET parked = NULL WHERE parked = ?", epoch)
	return err
}

// Left implements engine.LeftFinder.
func (e *Engine) Left(ctx context.Context) ([]engine.Info, error) {
	list, err := e.readInfos(ctx, "AND r.ended = 0 AND r.parent IS NULL ORDER BY r.due, r.key")
	return slices.DeleteFunc(list, func(i engine.Info) bool { return !i.Interrupted() }), err
}

// wakeful is the last result of Wakeable, so that Wakeable need not query again while nothing
// changes.
type wakeful struct {
	mu      sync.Mutex
	conn    *sql.Conn // for data_version, which is one connection's
	version int64     // of the data that was asked
	asked   time.Time
	next    event.Time
}

// askAgain is how soon Wakeable notices a change that no commit tells: that a process which had a turn died.
const askAgain = time.Second

// Wakeable implements engine.Parker. It costs one look at a counter if nothing has been committed since the last call and no
// timer is due.
func (e *Engine) Wakeable(ctx context.Context, limit int) (runs []string, next event.Time, err error) {
	defer func() { err = e.explainError(err) }()
	if e.commits == nil {
		return nil, 0, engine.ErrReadOnly
	}
	if err := e.commits.currentFailure(); err != nil { // no run can be driven any more
		return nil, 0, err
	}
	epoch := e.driverEpoch()
	if epoch == 0 { // nothing was driven here
		return nil, 0, nil
	}
	e.watchLine() // of parked runs too: nothing else may look
	e.wake.mu.Lock()
	defer e.wake.mu.Unlock()
	if e.wake.conn == nil {
		if e.wake.conn, err = e.read.Conn(ctx); err != nil {
			return nil, 0, err
		}
	}
	var version int64
	if err := e.wake.conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version); err != nil {
		return nil, 0, err
	}
	now := e.now()
	if version == e.wake.version && time.Since(e.wake.asked) < askAgain && (e.wake.next == 0 || now < e.wake.next) {
		return nil, e.wake.next, nil
	}
	runs, next, err = e.askWakeable(ctx, epoch, now, limit)
	if err == nil && len(runs) == 0 {
		e.wake.version, e.wake.asked, e.wake.next = version, time.Now(), next
	} else {
		e.wake.asked = time.Time{}
	}
	return runs, next, err
}

func (e *Engine) askWakeable(ctx context.Context, epoch int64, now event.Time, limit int) (runs []string, next event.Time, err error) {
	q := e.reading(ctx)
	for _, ask := range []string{
		"SELECT id FROM runs WHERE parked = ?1 AND due <= ?2 ORDER BY due LIMIT ?3",
		"SELECT r.id FROM (SELECT DISTINCT run FROM inbox) i JOIN runs r ON r.key = i.run LEFT JOIN turns t ON t.run = r.key AND t.waits = 1" +
			" WHERE r.parked = ?1 AND (r.due IS NULL OR r.due > ?2) AND (t.run IS NULL OR " + unwanted + ") LIMIT ?3",
	} {
		more, err := readTexts(q(ask, epoch, int64(now), limit-len(runs)))
		if err != nil {
			return nil, 0, err
		}
		runs = append(runs, more...)
	}
	more, err := e.firstInQueues(q, epoch, limit-len(runs))
	if err == nil {
		err = e.read.QueryRowContext(ctx, "SELECT coalesce(min(due), 0) FROM runs WHERE parked = ? AND due > ?", epoch, int64(now)).Scan(&next)
	}
	return append(runs, more...), next, err
}

// firstInQueues returns up to limit of the parked runs that waited for a turn that has come.
func (e *Engine) firstInQueues(q query, epoch int64, limit int) (runs []string, err error) {
	rows, err := q(`SELECT r.id, min(t.id), t.grp, t.shares FROM turns t JOIN runs r ON r.key = t.run
		WHERE t.epoch = ? AND t.waits = 1 AND r.parked = ? AND r.cancels = 0 GROUP BY t.grp, t.shares`, epoch, epoch)
	if err != nil {
		return nil, err
	}
	var first []turn
	for rows.Next() {
		var t turn
		if err := rows.Scan(&t.run, &t.id, &t.group, &t.shares); err != nil {
			rows.Close()
			return nil, err
		}
		first = append(first, t)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for _, t := range first {
		ahead, err := e.runAhead(q, t.queue, t.id, t.run)
		if err != nil {
			return nil, err
		}
		if ahead == "" && len(runs) < limit {
			runs = append(runs, t.run)
		}
	}
	return runs, nil
}

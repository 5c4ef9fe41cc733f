package local

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/flowrun/flowrun/runner/admission"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// A run that waits is parked together with the runs that it called, if they wait, too. Each of them is woken on its own. A called run
// that was woken is driven beside its caller, which stays parked. When the called run has ended, it is handed back: its caller
// is woken, and gets its end. It is also handed back when its drive fails: its caller is woken, and drives it again.
//
// Who was handed back is known to the process alone. If the process dies, the next driver of the caller asks for all runs that the
// caller called and that have not ended, as it always does.

// DriveUntilParked implements engine.Parker. A run that it cannot drive is not parked any more.
func (e *Engine) DriveUntilParked(ctx context.Context, run string, w engine.Watcher) (event.End, error) {
	end, err := e.driveRun(ctx, run, w, true)
	switch {
	case err == nil:
		return end, e.handBack(run, &end)
	case gaveUp(err):
		return end, errors.Join(err, e.handBack(run, nil))
	}
	return end, err
}

// Watching is how many drives that park their runs wait for sources that they watch, and for nothing else. Such a drive can be stopped at any
// time: its next driver watches anew.
func (e *Engine) Watching() int { return int(e.watching.Load()) }

// gaveUp reports whether the error of a drive that parks runs means that this process does not drive the run any more.
func gaveUp(err error) bool {
	return err != nil && !errors.Is(err, engine.ErrParked) && !errors.Is(err, engine.ErrOwned) && !errors.Is(err, engine.ErrClosed)
}

// giveUpRuns leaves runs to whoever drives them next. Runs that this process parked are not parked any more. The turns of the runs in
// their groups go to the next runs, and their requests leave the line. No drive of the runs may be under way.
func (e *Engine) giveUpRuns(runs ...string) error {
	epoch := e.driverEpoch()
	if epoch == 0 || len(runs) == 0 { // nothing was driven here
		return nil
	}
	return e.writeUrgent(func(tx *transaction) error {
		for _, run := range runs {
			if err := e.giveUpRun(tx, run, epoch); err != nil {
				return err
			}
		}
		return nil
	})
}

func (e *Engine) giveUpRun(tx *transaction, run string, epoch int64) error {
	parked, err := tx.exec("UPDATE runs SET parked = NULL WHERE id = ? AND parked = ?", run, epoch)
	if err == nil && parked > 0 {
		err = e.removeRequestsOf(tx, run, false, &admission.Answer{}) // whoever is granted finds out by itself
	}
	if err != nil {
		return err
	}
	t, err := e.turnOf(tx.reading, run)
	if err == nil && t != nil {
		err = e.passTurn(tx, t, epoch)
	}
	return err
}

// handBack gives a called run that was driven beside its caller back to the caller. end is nil if the run could not be driven.
func (e *Engine) handBack(run string, end *event.End) error {
	caller, err := readTexts(e.read.Query("SELECT parent FROM runs WHERE id = ? AND parent IS NOT NULL", run))
	if err != nil || len(caller) == 0 {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.handed == nil {
		e.handed = map[string]map[string]*event.End{}
	}
	if e.handed[caller[0]] == nil {
		e.handed[caller[0]] = map[string]*event.End{}
	}
	e.handed[caller[0]][run] = end
	if d := e.drives[caller[0]]; d != nil {
		d.poke()
	} else {
		e.noteWoken()
	}
	return nil
}

// takeHandedBack takes the called runs that were handed back, but for those that this drive still takes for its own.
func (d *drive) takeHandedBack() {
	d.engine.mu.Lock()
	defer d.engine.mu.Unlock()
	list := d.engine.handed[d.run.id]
	for _, run := range slices.Sorted(maps.Keys(list)) {
		if d.session.HandBack(run, list[run]) {
			delete(list, run)
		}
	}
	if len(list) == 0 {
		delete(d.engine.handed, d.run.id)
	}
}

// callersToWake returns the parked callers to whom a run was handed back.
func (e *Engine) callersToWake(ctx context.Context, epoch int64) (callers []string, err error) {
	e.mu.Lock()
	for caller := range e.handed { // any order: sorted below
		if _, driven := e.drives[caller]; !driven {
			callers = append(callers, caller)
		}
	}
	e.mu.Unlock()
	slices.Sort(callers)
	parked := callers[:0]
	for _, caller := range callers {
		var mine bool
		err := e.read.QueryRowContext(ctx, "SELECT count(*) FROM runs WHERE id = ? AND parked = ?", caller, epoch).Scan(&mine)
		switch {
		case err != nil:
			return nil, err
		case mine:
			parked = append(parked, caller)
		default:
			e.forgetHandedBack(caller)
		}
	}
	return parked, nil
}

// forgetHandedBack forgets the runs that were handed back to a caller that is not parked here, unless somebody drives the caller now.
func (e *Engine) forgetHandedBack(caller string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, driven := e.drives[caller]; !driven {
		delete(e.handed, caller)
	}
}

// errCallerEnded stops the drive of a run that was driven beside its caller.
var errCallerEnded = errors.New("the run that called it has ended")

// leaveChildren gives up the called runs that are not this drive's, at the end of the run. A called run that is driven beside the run
// gives itself up at the end of its drive.
func (d *drive) leaveChildren() error {
	var left []string
	for _, run := range d.session.Fold().Called() {
		if d.session.HasChild(run) {
			continue
		}
		if d.engine.enterRun(run) != nil {
			d.engine.stopDrive(run, errCallerEnded)
			continue
		}
		defer d.engine.leaveRun(run)
		left = append(left, run)
	}
	return d.engine.giveUpRuns(left...)
}

// parkRun releases the run, if this drive parks runs and nothing is in flight. The error is *engine.Parked then.
func (d *drive) parkRun() error {
	due, can := d.session.CanPark(d.now())
	if !d.parks || !can || len(d.live.cancel) > 0 || d.session.Children() > 0 {
		return nil
	}
	d.keepState()
	d.kept.wait() // the next driver may be this process, and begins from it
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

// unwanted is an SQL condition on r, the row of a run that waits for its turn. It holds if the run stops waiting: the run was cancelled
// before it began, or twice.
const unwanted = "r.cancels > (r.pending IS NULL)"

// parkQueued lets go of a run that waits for its turn, unless it is unwanted or its turn has come. The error is *engine.Parked then.
func (e *Engine) parkQueued(t *turn, epoch int64) error {
	parked := int64(0)
	err := e.write(func(tx *transaction) (err error) {
		parked = 0
		if ahead, err := e.runAhead(tx.reading, t.queue, t.request(t.run, t.id)); err != nil || ahead == "" {
			return err
		}
		parked, err = tx.exec("UPDATE runs AS r SET parked = ?1, due = NULL WHERE key = ?2 AND NOT ("+unwanted+
			") AND EXISTS (SELECT 1 FROM turns WHERE run = r.key AND epoch = ?1 AND waits = 1 AND holds = 0)", epoch, t.key)
		return err
	})
	if err == nil && parked > 0 {
		err = &engine.Parked{Run: t.run}
	}
	return err
}

// A parked run is woken by its due alone: the transaction that gives it a message or its turn also makes it due at once.

// atOnce is the due of such a run.
const atOnce = 1

// wakeByTurn makes a run due at once, if the run is parked.
func (tx *transaction) wakeByTurn(key int64) error {
	woken, err := tx.exec("UPDATE runs SET due = ? WHERE key = ? AND parked IS NOT NULL", atOnce, key)
	tx.c.wakes = tx.c.wakes || woken > 0
	return err
}

// wakeByMessage makes a run due at once, if the run is parked. A run that waits for its turn takes no messages until then, but
// ends if it is unwanted.
func (tx *transaction) wakeByMessage(key int64) error {
	woken, err := tx.exec("UPDATE runs AS r SET due = ? WHERE key = ? AND parked IS NOT NULL AND ("+unwanted+
		" OR NOT EXISTS (SELECT 1 FROM turns WHERE run = r.key AND waits = 1))", atOnce, key)
	tx.c.wakes = tx.c.wakes || woken > 0
	return err
}

// unparked is in place of the epoch of a process that parked a run and has ended since. Nobody has the run.
const unparked = 0

// unparkRuns gives up the runs that a process parked.
func (tx *transaction) unparkRuns(epoch int64) error {
	_, err := tx.exec("UPDATE runs SET parked = ? WHERE parked = ?", unparked, epoch)
	return err
}

// Left implements engine.LeftFinder.
func (e *Engine) Left(ctx context.Context) ([]engine.Info, error) {
	mine := e.driverEpoch() // another epoch than that of any row, where it is 0
	list, err := e.readInfos(ctx, "AND r.ended = 0 AND r.parent IS NULL AND (?1 = 0 OR coalesce(r.owner, 0) != ?1 AND coalesce(r.parked, 0) != ?1) ORDER BY r.due, r.key", mine)
	return slices.DeleteFunc(list, func(i engine.Info) bool { return !i.Interrupted() }), err
}

// waitsAlone is an SQL condition on r. It holds if a process parked the run and has ended since, and nothing but a timer or a message concerns
// the run: it called no run that goes on, has no turn and no request in a line.
const waitsAlone = `r.parked = 0 AND r.ended = 0 AND r.owner IS NULL AND r.clean = 1 AND r.pending IS NULL AND r.parent IS NULL AND r.grp IS NULL
	AND NOT EXISTS (SELECT 1 FROM runs c WHERE c.parent = r.id AND c.ended = 0) AND NOT EXISTS (SELECT 1 FROM admissions a WHERE a.run = r.id)`

// Adopt implements engine.LeftFinder.
func (e *Engine) Adopt(ctx context.Context) (adopted int, err error) {
	defer func() { err = e.explainError(err) }()
	if e.commits == nil {
		return 0, engine.ErrReadOnly
	}
	epoch, err := e.registerDriver() // gives up the runs that dead processes parked
	if err != nil {
		return 0, err
	}
	var some bool
	if err := e.read.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM runs r WHERE "+waitsAlone+")").Scan(&some); err != nil || !some {
		return 0, err
	}
	var runs []string
	err = e.write(func(tx *transaction) (err error) {
		runs, err = readTexts(tx.reading("UPDATE runs AS r SET parked = ?, due = CASE WHEN EXISTS (SELECT 1 FROM inbox i WHERE i.run = r.key) THEN ? ELSE r.due END WHERE "+
			waitsAlone+" RETURNING id", epoch, atOnce))
		return err
	})
	if err != nil {
		return 0, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.adopted == nil {
		e.adopted = map[string]event.Time{}
	}
	for _, run := range runs {
		e.adopted[run] = e.now()
	}
	e.noteWoken()
	return len(runs), nil
}

// Alone implements engine.LeftFinder.
func (e *Engine) Alone() (bool, error) {
	epochs, err := lockFiles(e.dir)
	alive, mine := e.newLivenessCheck(), e.driverEpoch()
	for i := 0; i < len(epochs) && err == nil; i++ {
		var lives bool
		if lives, err = alive(epochs[i]); lives && epochs[i] != mine {
			return false, err
		}
	}
	return err == nil, err
}

// takeAdopted returns when a run was adopted that was not driven here since, once; 0 if it was not.
func (e *Engine) takeAdopted(run string) event.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer delete(e.adopted, run)
	return e.adopted[run]
}

// wakeful is the last result of Wakeable, so that Wakeable need not query again while nothing
// changes.
type wakeful struct {
	mu      sync.Mutex
	conn    *sql.Conn // for data_version, which is one connection's
	version int64     // of the data that was asked
	next    event.Time
	checked time.Time // when the other processes were looked at
	woken   chan struct{}
}

// The queries of Wakeable.
const (
	dueRuns = "SELECT id FROM runs WHERE parked = ? AND due <= ? ORDER BY due LIMIT ?"
	nextDue = "SELECT coalesce(min(due), 0) FROM runs WHERE parked = ? AND due > ?"
)

// Woken implements engine.Parker.
func (e *Engine) Woken() <-chan struct{} { return e.wake.woken }

// noteWoken notes that a parked run may be wakeable.
func (e *Engine) noteWoken() {
	select {
	case e.wake.woken <- struct{}{}:
	default:
	}
}

// checkDrivers is how soon Wakeable notices that another process has died: the turns of its runs are free then.
const checkDrivers = time.Second

// Wakeable implements engine.Parker. It costs one look at a counter if nothing has been committed since the last call and no
// timer is due, and else a query that grows with the runs that are due.
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
	e.wake.mu.Lock()
	defer e.wake.mu.Unlock()
	if time.Since(e.wake.checked) >= checkDrivers {
		e.watchLine() // of parked runs, too: nothing else may look
		if err := e.noticeDeaths(epoch); err != nil {
			return nil, 0, err
		}
		e.wake.checked = time.Now()
	}
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
	callers, err := e.callersToWake(ctx, epoch)
	if err != nil {
		return nil, 0, err
	}
	if len(callers) == 0 && version == e.wake.version && (e.wake.next == 0 || now < e.wake.next) {
		return nil, e.wake.next, nil
	}
	runs, err = readTexts(e.read.QueryContext(ctx, dueRuns, epoch, int64(now), limit))
	if err == nil {
		err = e.read.QueryRowContext(ctx, nextDue, epoch, int64(now)).Scan(&next)
	}
	if e.wake.version = version; err != nil || len(runs) > 0 {
		e.wake.version = 0 // they are due until they are driven
	}
	e.wake.next = next
	runs = slices.DeleteFunc(runs, func(run string) bool { return slices.Contains(callers, run) }) // a caller can be due by itself, too
	runs = append(callers[:min(len(callers), limit)], runs...)
	return runs[:min(len(runs), limit)], next, err
}

// noticeDeaths frees what the processes had that have died since the last call.
func (e *Engine) noticeDeaths(mine int64) error {
	epochs, err := lockFiles(e.dir)
	if err != nil {
		return err
	}
	alive := e.newLivenessCheck()
	for _, epoch := range epochs {
		lives, err := alive(epoch)
		if err != nil {
			return err
		}
		if !lives {
			return e.writeUrgent(func(tx *transaction) error { return e.removeDeadDrivers(tx, mine) })
		}
	}
	return nil
}

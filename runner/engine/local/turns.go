package local

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/flowrun/flowrun/runner/admission"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// Runs of one group take turns, by the rules of package admission. Each run has a row in the table turns from its start to its end. The
// row is the run's request for its turn, and the order of the rows' ids is the order of the queue. A run that waits for its turn is
// durable and pending: its journal is empty, and its row in the table runs holds its first event. Only a driver waits for a turn. A request counts for as long as a
// living process has its row (the process that started the run, waits for the turn, or drives the run), so a run whose process died
// blocks nobody. When a process drives that run again, the run is back at its old position, but waits for a run that has taken the
// turn.
//
// A called run of the same group as one of its callers shares that caller's turn, and takes turns with the other called
// runs that do. So a group has one queue for its runs at the top, and one for each caller that shares its turn.

// queue is the name of a queue.
type queue struct {
	group  string
	shares string // the nearest caller of the same group; "" if there is none
}

// turn is a run's row in the table turns.
type turn struct {
	queue
	key    int64 // of the run
	run    string
	caller string // the run that calls it, "" if none does
	id     int64  // its position
	epoch  int64  // the process that has it; 0: none
	holds  bool   // its turn has come
	waits  bool   // a driver waits for the turn
}

// groupBusy refuses the start of a run that skips instead of waiting.
type groupBusy struct{ reason string }

func (b *groupBusy) Error() string { return b.reason }

// query reads rows: through a transaction, or through a connection for reading.
type query func(text string, args ...any) (*sql.Rows, error)

func (e *Engine) reading(ctx context.Context) query {
	return func(text string, args ...any) (*sql.Rows, error) { return e.read.QueryContext(ctx, text, args...) }
}

func (tx *transaction) reading(text string, args ...any) (*sql.Rows, error) {
	s, err := tx.c.statement(text)
	if err != nil {
		return nil, err
	}
	return s.Query(args...)
}

// queueOf finds the queue of a run of a group.
func (q query) queueOf(group, caller string) (queue, error) {
	found := queue{group: group}
	above, err := readTexts(q(fmt.Sprintf(`WITH RECURSIVE up (id, n) AS (SELECT ?, 0 UNION ALL
		SELECT r.parent, n + 1 FROM runs r JOIN up ON r.id = up.id WHERE n < %d)
		SELECT r.id FROM up JOIN runs r ON r.id = up.id WHERE r.grp = ? ORDER BY n LIMIT 1`, engine.MaxDepth), caller, group))
	if len(above) > 0 {
		found.shares = above[0]
	}
	return found, err
}

// eachAlive calls each with the requests of a queue that living processes have, until each returns false. It reads no further. A run that
// no living process has holds nothing and blocks nobody.
func (e *Engine) eachAlive(q query, in queue, each func(*admission.Request) bool, where string, args ...any) error {
	rows, err := q("SELECT r.id, t.id, t.epoch, t.holds FROM turns t JOIN runs r ON r.key = t.run WHERE t.grp = ? AND t.shares = ? AND t.epoch IS NOT NULL AND "+where,
		append([]any{in.group, in.shares}, args...)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	alive := e.newLivenessCheck()
	for rows.Next() {
		r := in.request("", 0)
		if err := rows.Scan(&r.Run, &r.Order, &r.Driver, &r.Granted); err != nil {
			return err
		}
		r.Key = r.Run
		if lives, err := alive(r.Driver); err != nil || lives && !each(r) {
			return err
		}
	}
	return rows.Err()
}

// firstAlive returns the first request of eachAlive, or nil.
func (e *Engine) firstAlive(q query, in queue, where string, args ...any) (first *admission.Request, err error) {
	err = e.eachAlive(q, in, func(r *admission.Request) bool { first = r; return false }, where, args...)
	return first, err
}

// request returns the request of a run for its turn.
func (in queue) request(run string, position int64) *admission.Request {
	return &admission.Request{Key: run, Run: run, Order: position,
		Needs: []event.Need{engine.Line{Group: in.group, Shares: in.shares}.Need()}}
}

// runAhead returns the run that another one waits for, at its position of a queue; "" means that it is the other's turn. It reads the
// requests that decide: of a living run that is the nearest before the position, or else has the turn.
func (e *Engine) runAhead(q query, in queue, r *admission.Request) (string, error) {
	ahead, err := e.firstAlive(q, in, "t.id < ? ORDER BY t.id DESC", r.Order)
	if err == nil && ahead == nil {
		ahead, err = e.firstAlive(q, in, "t.holds = 1 AND t.id > ?", r.Order)
	}
	if err != nil {
		return "", err
	}
	return e.judgeTurn(r, ahead)
}

// judgeTurn is runAhead for the request that decides, or nil.
func (e *Engine) judgeTurn(r, ahead *admission.Request) (string, error) {
	var requests []*admission.Request
	if r.Granted {
		requests = append(requests, r)
	}
	if ahead != nil {
		decides := *ahead // Apply changes it
		requests = append(requests, &decides)
	}
	state := admission.Load(requests, nil)
	if _, err := state.Apply(admission.Operation{Ask: r}, e.now()); err != nil {
		return "", err
	}
	if ahead = state.FindAhead(r.Key); ahead == nil {
		return "", nil
	}
	return ahead.Run, nil
}

// runsAhead is runAhead for many runs that wait. A queue in which several of them wait is read once.
func (e *Engine) runsAhead(q query, waiting []*turn) (ahead []string, err error) {
	count, lines := map[queue]int{}, map[queue][]*admission.Request{}
	for _, t := range waiting {
		count[t.queue]++
	}
	for _, t := range waiting {
		r, run := t.request(t.run, t.id), ""
		if count[t.queue] == 1 {
			run, err = e.runAhead(q, t.queue, r)
		} else {
			line, known := lines[t.queue]
			if !known {
				err = e.eachAlive(q, t.queue, func(r *admission.Request) bool { line = append(line, r); return true }, "1 ORDER BY t.id")
				lines[t.queue] = line
			}
			if err == nil {
				run, err = e.judgeTurn(r, nextAhead(line, t.id))
			}
		}
		if err != nil {
			return nil, err
		}
		ahead = append(ahead, run)
	}
	return ahead, nil
}

// nextAhead returns the request of a line that decides about the request at a position: the nearest before it, or else one that has the
// turn.
func nextAhead(line []*admission.Request, position int64) *admission.Request {
	at, _ := slices.BinarySearchFunc(line, position, func(r *admission.Request, position int64) int { return cmp.Compare(r.Order, position) })
	if at > 0 {
		return line[at-1]
	}
	for _, r := range line {
		if r.Granted && r.Order > position {
			return r
		}
	}
	return nil
}

// giveNextTurn gives the turn of a queue to the first run that waits, if no living run has it.
func (e *Engine) giveNextTurn(tx *transaction, in queue) error {
	var requests []*admission.Request
	for _, where := range []string{"t.holds = 1 ORDER BY t.id", "t.holds = 0 ORDER BY t.id"} {
		r, err := e.firstAlive(tx.reading, in, where)
		if err != nil {
			return err
		}
		if r != nil {
			requests = append(requests, r)
		}
	}
	a, err := admission.Load(requests, nil).Apply(admission.Operation{Remove: []string{}}, e.now())
	if err != nil || len(a.Granted) == 0 {
		return err
	}
	var key int64
	err = tx.readRow("UPDATE turns SET holds = 1 WHERE id = ? RETURNING run", []any{a.Granted[0].Order}, &key)
	if err == nil {
		err = tx.wakeByTurn(key)
	}
	return err
}

// newLivenessCheck returns a function that reports whether the process of an epoch lives. It checks each epoch once.
func (e *Engine) newLivenessCheck() func(epoch int64) (bool, error) {
	known := map[int64]bool{0: false}
	if mine := e.driverEpoch(); mine != 0 {
		known[mine] = true
	}
	return func(epoch int64) (bool, error) {
		lives, asked := known[epoch]
		if asked {
			return lives, nil
		}
		lives, err := isLocked(e.lockPath(epoch))
		if err == nil {
			known[epoch] = lives
		}
		return lives, err
	}
}

// entry is a run's way into its queue, in the transaction that makes the run.
type entry struct {
	queue
	turn      bool     // nobody is before it
	cancelled []string // the runs that give way to it
}

// enterQueue decides whether a new run of a group starts, waits, or is refused. Errors that refuse
// the run: *groupBusy, *engine.Deadlock.
func (e *Engine) enterQueue(tx *transaction, g engine.Group, run, caller string) (n entry, err error) {
	q := query(tx.reading)
	if n.queue, err = q.queueOf(g.Name, caller); err != nil {
		return n, err
	}
	ahead, err := e.runAhead(q, n.queue, n.request(run, math.MaxInt64))
	if n.turn = ahead == ""; err != nil || n.turn {
		return n, err
	}
	switch g.WhenBusy {
	case engine.Skip:
		return n, refused{&groupBusy{g.SkipReason(ahead)}}
	case engine.CancelPrevious:
		n.cancelled, err = readTexts(q("SELECT r.id FROM turns t JOIN runs r ON r.key = t.run WHERE t.grp = ? AND t.shares = ? AND r.ended = 0", n.group, n.shares))
	case engine.Queue:
		err = e.refuseDeadlock(q, &turn{queue: n.queue, run: run, caller: caller})
	}
	return n, err
}

// takePosition puts a run that was just made at the end of its queue, and cancels the runs that give way to it.
func (e *Engine) takePosition(tx *transaction, n entry, key, epoch int64) error {
	_, err := tx.exec("INSERT INTO turns (run, grp, shares, epoch, holds) VALUES (?, ?, ?, ?, ?)", key, n.group, n.shares, epoch, n.turn)
	for i := 0; i < len(n.cancelled) && err == nil; i++ {
		cancel := event.External{Kind: event.ExternalCancel, Reason: engine.Group{Name: n.group}.CancelReason()}
		err = e.postSignal(tx, n.cancelled[i], cancel, upTo(1))
	}
	return err
}

// awaitTurn returns when it is the turn of a run that is about to be driven, or when the run needs none. leave gives the turn
// back. A run that was cancelled before it began, or twice, does not wait: nothing of it is executed. Neither does a called run that would wait for ever: it is cancelled.
func (e *Engine) awaitTurn(ctx context.Context, run string, parks bool) (leave func(), err error) {
	t, err := e.turnOf(e.reading(ctx), run)
	if err != nil || t == nil {
		return func() {}, err
	}
	if err := e.refuseTaken(run); err != nil { // nobody waits for a turn to be told that the run has another driver
		return nil, err
	}
	epoch, err := e.registerDriver()
	if err != nil {
		return nil, err
	}
	err = e.write(func(tx *transaction) error { return e.joinQueue(tx, run, epoch, &t) })
	if err != nil || t == nil {
		return func() {}, err
	}
	leave = func() { e.leaveQueue(t, epoch) }
	told := ""
	for !t.holds {
		ahead, err := e.lookAhead(ctx, t, epoch)
		if err == nil && t.waits && ahead != "" {
			if e.options.Waiting != nil && ahead != told {
				told = ahead
				e.options.Waiting(run, engine.Turn{Group: t.group, Behind: ahead})
			}
			if parks {
				err = e.parkQueued(t, epoch)
				if errors.Is(err, engine.ErrParked) {
					return nil, err
				}
			} else {
				err = waitForLook(ctx)
			}
		}
		if err != nil {
			leave()
			return nil, err
		}
		if !t.waits {
			break
		}
	}
	return leave, nil
}

// upTo says how many cancels are missing of n.
func upTo(n int) func(before int) int { return func(before int) int { return n - before } }

// turnOf reads a run's row in turns; nil if the run has none, or has ended.
func (e *Engine) turnOf(q query, run string) (*turn, error) {
	rows, err := q(`SELECT t.run, r.id, coalesce(r.parent, ''), t.id, t.grp, t.shares, coalesce(t.epoch, 0), t.holds, t.waits
		FROM turns t JOIN runs r ON r.key = t.run WHERE r.id = ? AND r.ended = 0`, run)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	if !rows.Next() {
		return nil, rows.Err()
	}
	t := &turn{}
	return t, rows.Scan(&t.key, &t.run, &t.caller, &t.id, &t.group, &t.shares, &t.epoch, &t.holds, &t.waits)
}

// joinQueue makes this process the one that waits for a run's turn, or has it. joined is nil if the run needs no turn: it has none
// in a queue, or it would wait for ever, and is cancelled.
func (e *Engine) joinQueue(tx *transaction, run string, epoch int64, joined **turn) error {
	q := query(tx.reading)
	t, err := e.turnOf(q, run)
	if *joined = t; err != nil || t == nil {
		return err
	}
	if t.waits && t.epoch != epoch && !e.options.TakeOver {
		lives, err := isLocked(e.lockPath(t.epoch))
		if err != nil {
			return err
		}
		if lives {
			return refused{fmt.Errorf("%w: run %s, which waits there for its turn in the group %q", engine.ErrOwned, run, t.group)}
		}
	}
	if t.waits { // a run that was parked here in its line was not driven before
		if _, err := tx.exec("UPDATE runs SET parked = NULL WHERE key = ?", t.key); err != nil {
			return err
		}
	}
	ask := t.request(run, t.id)
	if t.holds { // another run may have taken the turn of a dead process
		if ask.Granted, err = e.newLivenessCheck()(t.epoch); err != nil {
			return err
		}
	}
	ahead, err := e.runAhead(q, t.queue, ask)
	if err != nil {
		return err
	}
	t.holds, t.epoch = ahead == "", epoch
	t.waits = !t.holds
	if t.waits {
		err := e.refuseDeadlock(q, t)
		if d := (*engine.Deadlock)(nil); errors.As(err, &d) { // the run is there and must come to its end
			err = e.postSignal(tx, run, event.External{Kind: event.ExternalCancel, Reason: d.Error()}, upTo(1))
			if err == nil {
				*joined = nil
				return e.removeTurn(tx, t.key)
			}
		}
		if err != nil {
			return err
		}
	}
	_, err = tx.exec("UPDATE turns SET epoch = ?, holds = ?, waits = ? WHERE run = ?", t.epoch, t.holds, t.waits, t.key)
	return err
}

// lookAhead returns the run that a run still waits for. It takes the turn if it has come. A run that is not to wait any more leaves
// its queue.
func (e *Engine) lookAhead(ctx context.Context, t *turn, epoch int64) (ahead string, err error) {
	var now int64
	var given, calledOff bool // given: another process gave it the turn
	err = e.read.QueryRowContext(ctx, "SELECT coalesce(t.epoch, 0), t.holds, "+unwanted+" FROM turns t JOIN runs r ON r.key = t.run WHERE t.run = ?", t.key).Scan(&now, &given, &calledOff)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", e.noRun(t.run)
	case err != nil:
		return "", err
	case now != epoch:
		return "", fmt.Errorf("%w: run %s", engine.ErrFenced, t.run)
	case !calledOff && !given:
		if ahead, err = e.runAhead(e.reading(ctx), t.queue, t.request(t.run, t.id)); err != nil || ahead != "" {
			return ahead, err
		}
	}
	decided := false
	err = e.write(func(tx *transaction) (err error) {
		ahead, decided = "", false
		if !calledOff && !given {
			if ahead, err = e.runAhead(tx.reading, t.queue, t.request(t.run, t.id)); err != nil || ahead != "" {
				return err
			}
		}
		n, err := tx.exec("UPDATE turns SET holds = ?, waits = 0 WHERE run = ? AND epoch = ?", !calledOff, t.key, epoch)
		if err == nil && n == 0 {
			return refused{fmt.Errorf("%w: run %s", engine.ErrFenced, t.run)}
		}
		if decided = true; err == nil && calledOff {
			err = e.removeTurn(tx, t.key)
		}
		return err
	})
	if err == nil && decided {
		t.holds, t.waits = !calledOff, false
	}
	return ahead, err
}

// leaveQueue lets the next run in. The run keeps its position until it has ended. A failure is the store's; the turn is free
// then when this process ends.
func (e *Engine) leaveQueue(t *turn, epoch int64) {
	_ = e.writeUrgent(func(tx *transaction) error { return e.passTurn(tx, t, epoch) })
}

// passTurn is leaveQueue in a transaction. A turn that another process has is left to it.
func (e *Engine) passTurn(tx *transaction, t *turn, epoch int64) error {
	n, err := tx.exec("DELETE FROM turns WHERE run = ? AND epoch = ? AND run IN (SELECT key FROM runs WHERE key = turns.run AND ended != 0)", t.key, epoch)
	if err == nil && n == 0 {
		n, err = tx.exec("UPDATE turns SET epoch = NULL, holds = 0, waits = 0 WHERE run = ? AND epoch = ?", t.key, epoch)
	}
	if err == nil && n > 0 {
		err = e.giveNextTurn(tx, t.queue)
	}
	return err
}

// removeTurn takes a run that is removed out of its queue.
func (e *Engine) removeTurn(tx *transaction, key int64) error {
	var in queue
	err := tx.readRow("DELETE FROM turns WHERE run = ? RETURNING grp, shares", []any{key}, &in.group, &in.shares)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		err = e.giveNextTurn(tx, in)
	}
	return err
}

// freeTurns gives back the turns that a process had.
func (e *Engine) freeTurns(tx *transaction, epoch int64) error {
	rows, err := tx.reading("SELECT DISTINCT grp, shares FROM turns WHERE epoch = ?", epoch)
	if err != nil {
		return err
	}
	var queues []queue
	for rows.Next() {
		var in queue
		if err := rows.Scan(&in.group, &in.shares); err != nil {
			rows.Close()
			return err
		}
		queues = append(queues, in)
	}
	rows.Close()
	err = rows.Err()
	if err == nil {
		_, err = tx.exec("DELETE FROM turns WHERE epoch = ? AND run IN (SELECT key FROM runs WHERE key = turns.run AND ended != 0)", epoch)
	}
	if err == nil {
		_, err = tx.exec("UPDATE turns SET epoch = NULL, holds = 0, waits = 0 WHERE epoch = ?", epoch)
	}
	for i := 0; i < len(queues) && err == nil; i++ {
		err = e.giveNextTurn(tx, queues[i])
	}
	return err
}

// Started returns the first event of a run, which its journal holds, or its row while it waits for its turn.
func (e *Engine) Started(ctx context.Context, run string) (first event.RunStarted, err error) {
	defer func() { err = e.explainError(err) }()
	c, err := e.scanRun(e.read.QueryRowContext(ctx, runRow, run).Scan, run)
	if err != nil {
		return first, unmarkError(err)
	}
	if c.pending {
		first, err = e.pendingStart(ctx, &c)
	} else {
		first, err = e.firstEvent(ctx, &c)
	}
	if err != nil {
		return first, err
	}
	whole, err := first.Whole()
	if err != nil {
		return first, fmt.Errorf("run %s: %w", run, err)
	}
	return *whole, nil
}

// pendingStart reads the first event of a run with an empty journal.
func (e *Engine) pendingStart(ctx context.Context, c *claimed) (first event.RunStarted, err error) {
	var text []byte
	err = e.read.QueryRowContext(ctx, "SELECT coalesce(pending, x'') FROM runs WHERE key = ?", c.key).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return first, e.noRun(c.id)
	}
	if err == nil && len(text) == 0 { // it has begun since
		return e.firstEvent(ctx, c)
	}
	if err == nil {
		err = json.Unmarshal(text, &first)
	}
	(&event.Event{RunStarted: &first}).Bind(e.artifacts.Run(c.id))
	if err != nil {
		err = fmt.Errorf("reading what run %s was started with: %w", c.id, err)
	}
	return first, err
}

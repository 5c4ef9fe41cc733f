package local

import (
	"database/sql"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/memory/private/durable"
	"github.com/flowrun/flowrun/runner/admission"
	"github.com/flowrun/flowrun/runner/durations"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/shared"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// claimed is a run's row at the moment when this process took it.
type claimed struct {
	key    int64
	id     string
	epoch  int64 // ours; 0 if the run has ended and nobody need own it
	header journal.Header
	status event.Status
	seq    uint64 // of the journal's last event
	link   journal.Link
	// The row's earlier content. The journal reaches at least the noted event; the journal of an
	// ended run reaches exactly that event.
	noted struct {
		seq  uint64
		link journal.Link
	}
	ended   bool
	pending bool // the run waits for its turn or had it just now: its journal is empty
	driven  bool
	parked  int64      // the epoch of the process that parked the run; 0: it is not parked
	due     event.Time // as the row says
	clean   bool
	owner   int64 // 0: nobody
	pid     int64 // of the owner, or of the process that parked the run, if its row was still there
	alive   bool  // that process was, and lost the run to us
}

const runRow = `SELECT r.key, r.id, r.header, r.status, coalesce(b.first + b.count - 1, 0), coalesce(b.link, x''), r.seq, r.link,
	r.ended != 0, r.pending IS NOT NULL, coalesce(r.parked, 0), coalesce(r.due, 0), r.driven, r.clean, coalesce(r.owner, 0), coalesce(d.pid, 0)
	FROM runs r LEFT JOIN batches b ON b.run = r.key AND b.first = (SELECT max(first) FROM batches WHERE run = r.key)
	LEFT JOIN drivers d ON d.epoch = coalesce(r.owner, r.parked) WHERE r.id = ? AND r.status != 'pruned'`

// noRun says that a run is not there; or, where its mark says that it was, that it is missing.
func (e *Engine) noRun(run string) error {
	var rows int // one that is being removed has a mark for a while
	err := e.read.QueryRow("SELECT count(*) FROM runs WHERE id = ?", run).Scan(&rows)
	if err == nil && rows == 0 && engine.CheckID(run) == nil {
		if seq, _, err := readMark(e.markPath(run), run); err == nil && seq > 0 {
			return fmt.Errorf("%w: run %s is missing: events up to %d were stored", journal.ErrBroken, run, seq)
		}
	}
	return fmt.Errorf("%w: %s", engine.ErrNoRun, run)
}

func (e *Engine) scanRun(scan func(...any) error, run string) (claimed, error) {
	var c claimed
	var header, link, noted []byte
	err := scan(&c.key, &c.id, &header, &c.status, &c.seq, &link, &c.noted.seq, &noted, &c.ended, &c.pending, &c.parked, &c.due, &c.driven, &c.clean, &c.owner, &c.pid)
	if errors.Is(err, sql.ErrNoRows) {
		return c, refused{e.noRun(run)}
	}
	if err != nil {
		return c, err
	}
	if err := engine.CheckID(c.id); err != nil { // it is about to be a file's name
		return c, refused{fmt.Errorf("%w: %w", journal.ErrBroken, err)}
	}
	copy(c.link[:], link) // who reads the batch finds one that is too short
	if copy(c.noted.link[:], noted) != len(c.noted.link) {
		return c, refused{fmt.Errorf("%w: run %s: its row holds %d bytes for a link", journal.ErrBroken, run, len(noted))}
	}
	if c.header, err = journal.DecodeHeader(header); err != nil {
		return c, refused{fmt.Errorf("%w: run %s: %w", journal.ErrBroken, run, err)}
	}
	return c, nil
}

// claimRun makes this process the owner of a run that has not ended. Errors: engine.ErrNoRun, engine.ErrOwned, and
// journal.ErrBroken if the row, the last batch and the mark beside the database do not fit together.
func (e *Engine) claimRun(run string) (claimed, error) {
	if err := e.refuseTaken(run); err != nil {
		return claimed{}, err
	}
	epoch, err := e.registerDriver()
	if err != nil {
		return claimed{}, err
	}
	var c claimed
	err = e.write(func(tx *transaction) (err error) {
		get := func(dest ...any) error { return tx.readRow(runRow, []any{run}, dest...) }
		if c, err = e.scanRun(get, run); err != nil {
			return err
		}
		if err := e.checkTail(&c); err != nil || c.ended {
			return err
		}
		if err = e.refuseOwned(&c, epoch); err != nil {
			return err
		}
		if c.owner == epoch {
			c.clean = c.clean || !e.leftSomething() // a drive of this process that could not give it back
		} else if c.owner != 0 {
			c.clean = c.clean || !c.alive && e.leftInOrder(c.owner)
		}
		_, err = tx.exec("UPDATE runs SET owner = ?, clean = 0, driven = 1, parked = NULL WHERE key = ?", epoch, c.key)
		c.epoch = epoch
		return err
	})
	return c, err
}

// refuseTaken refuses a run that another process drives before this one has written anything: if several processes want the same run, all but
// one go away without waiting for each other. The transaction asks again.
func (e *Engine) refuseTaken(run string) error {
	for due := time.Now().Add(e.forks); ; time.Sleep(durable.LockBeat) {
		c, err := e.scanRun(e.read.QueryRow(runRow, run).Scan, run)
		if err == nil && !c.ended {
			err = e.refuseOwned(&c, e.driverEpoch())
		}
		if !errors.Is(err, engine.ErrOwned) || time.Now().After(due) || syscall.Kill(int(c.pid), 0) != syscall.ESRCH {
			return unmarkError(err)
		}
	}
}

// lastForks is how long this process waits for the lock of a process that is gone. One that is killed while it starts a child leaves that with
// all its open files, the lock among them, until the child has become its program or is dead: of 1,000 kills one hit there.
const lastForks = time.Second

// refuseOwned returns an error if another process drives a run.
func (e *Engine) refuseOwned(c *claimed, epoch int64) (err error) {
	if c.parked != 0 && c.parked != epoch {
		switch c.alive, err = isLocked(e.lockPath(c.parked)); {
		case err != nil:
			return err
		case !c.alive:
			c.parked = 0
		case !e.options.TakeOver:
			return refused{fmt.Errorf("%w: run %s, which process %d has parked", engine.ErrOwned, c.id, c.pid)}
		}
	}
	if c.owner == 0 || c.owner == epoch {
		return nil
	}
	if c.alive, err = isLocked(e.lockPath(c.owner)); err == nil && c.alive && !e.options.TakeOver {
		err = refused{fmt.Errorf("%w: run %s, process %d", engine.ErrOwned, c.id, c.pid)}
	}
	return err
}

// checkTail compares the journal's end with the row and with the mark.
func (e *Engine) checkTail(c *claimed) error {
	err := c.checkEnd()
	if err == nil {
		err = checkMark(e.markPath(c.id), c.id, c.seq, c.link)
	}
	if err != nil {
		return refused{err}
	}
	return nil
}

// checkEnd compares the end of the journal with the run's row.
func (c *claimed) checkEnd() error {
	switch {
	case c.seq == 0 && c.noted.seq == 0 && c.pending:
		return nil
	case c.seq == 0:
		return fmt.Errorf("%w: run %s: its journal is empty, %d events were stored", journal.ErrBroken, c.id, c.noted.seq)
	case c.seq < c.noted.seq, c.seq > c.noted.seq && c.ended, c.seq == c.noted.seq && c.link != c.noted.link:
		return fmt.Errorf("%w: run %s: its journal ends at event %d with link %s, its row says %d with link %s",
			journal.ErrBroken, c.id, c.seq, c.link, c.noted.seq, c.noted.link)
	}
	return nil
}

// releaseRun gives a run back. clean means that no attempt of it is in flight and nothing got lost.
func (e *Engine) releaseRun(c *claimed, clean, driven bool) error {
	return e.writeUrgent(func(tx *transaction) error {
		_, err := tx.exec("UPDATE runs SET seq = ?, link = ?, owner = NULL, clean = ?, driven = ? WHERE key = ? AND owner = ?",
			int64(c.seq), c.link[:], clean, driven, c.key, c.epoch)
		return err
	})
}

// recordEnd records the end of a run that has an ended journal: the run ended with its first event,
// or its driver died before it recorded the end.
func (e *Engine) recordEnd(c *claimed, first *event.RunStarted, end *event.End, at event.Time) error {
	if c.ended {
		return nil
	}
	return e.writeUrgent(func(tx *transaction) error {
		n, err := tx.exec("UPDATE runs SET seq = ?, link = ?, status = ?, ended = ?, summary = ?, owner = NULL, clean = 1 WHERE key = ? AND owner = ?",
			int64(c.seq), c.link[:], string(end.Status), int64(at), engine.EncodeSummary(end), c.key, c.epoch)
		if err != nil || n == 0 { // another process has the run now
			return err
		}
		return c.forgetEnded(tx, shared.EndOf(first, end), at)
	})
}

// change holds the fields of the run's row that an append sets, besides the journal's new end.
type change struct {
	used map[string]event.Bounds // most that an attempt of each agent used, at the end of a run

	status  event.Status
	due     event.Time // see engine.Fold.Due
	ended   event.Time // 0: not yet
	summary []byte
	end     *shared.RunEnd      // at the end of a run
	taken   []int64             // inbox rows that the batch holds
	ends    []admission.End     // what attempts give back that the batch ends
	leaves  []string            // keys of attempts that leave their sync points
	asks    []event.Command     // what the run asks people, and what it asks no more
	rest    *shared.Rest        // whether anything of it is in flight now
	took    *durations.Expected // durations of nodes, at the end of a run that succeeded
	joined  *joined             // attempts that the batch starts, and that its transaction answers
}

// appendBatch makes a batch durable, if the run is still ours.
func (e *Engine) appendBatch(c *claimed, b journal.Batch, ch change) error {
	var given admission.Answer
	err := e.writeUrgent(func(tx *transaction) error {
		err := c.insertBatch(tx, b)
		if err == nil {
			err = c.updateRow(tx, b, ch)
		}
		if err == nil && len(ch.ends) > 0 {
			given, err = e.applyOperation(tx, admission.Operation{End: ch.ends})
		}
		for _, id := range ch.taken {
			if err == nil {
				_, err = tx.exec("DELETE FROM inbox WHERE id = ?", id)
			}
		}
		for _, key := range ch.leaves {
			if err == nil {
				err = shared.Withdraw(sharedRows{tx}, c.id, key)
			}
		}
		if err == nil {
			err = shared.ApplyAsks(sharedRows{tx}, c.id, ch.asks, e.now())
		}
		if err == nil {
			err = shared.NoteRest(sharedRows{tx}, c.id, ch.rest)
		}
		if ch.ended != 0 && err == nil {
			err = c.forgetEnded(tx, ch.end, ch.ended)
		}
		if err == nil {
			err = shared.LearnUsage(sharedRows{tx}, ch.used)
		}
		if err == nil {
			err = tx.learnDurations(c.header.Workflow, ch.took)
		}
		if err == nil && ch.joined != nil {
			err = ch.joined.answer(tx)
		}
		return err
	})
	if len(ch.ends) > 0 {
		e.halts.forget()
	}
	if err == nil {
		e.tellGranted(given)
		c.due = ch.due
		c.seq, c.link, c.status, c.ended, c.pending = b.Last(), b.Link, ch.status, ch.ended != 0, false
	}
	return err
}

// forgetEnded removes what is kept for a run that has ended: the messages that came too late, and what the run shares. A run that failed
// becomes a dead letter.
func (c *claimed) forgetEnded(tx *transaction, end *shared.RunEnd, at event.Time) error {
	if _, err := tx.exec("DELETE FROM inbox WHERE run = ?", c.key); err != nil {
		return err
	}
	return shared.EndRun(sharedRows{tx}, end, at)
}

// insertBatch adds a batch to the journal, which only the run's owner can. Two batches that begin with the same event cannot be.
func (c *claimed) insertBatch(tx *transaction, b journal.Batch) error {
	n, err := tx.exec("INSERT INTO batches (run, first, count, digest, link, body) SELECT key, ?, ?, ?, ?, ? FROM runs WHERE key = ? AND owner = ?",
		int64(b.First), b.Count, int64(b.Digest), b.Link[:], b.Body, c.key, c.epoch)
	if err == nil && n == 0 {
		return refused{fmt.Errorf("%w: run %s", engine.ErrFenced, c.id)}
	}
	if s := (*sqlite.Error)(nil); errors.As(err, &s) && s.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY {
		return fmt.Errorf("%w: run %s does not end before event %d, as it did for its owner", journal.ErrBroken, c.id, b.First)
	}
	return err
}

// updateRow writes the row, if the batch changes anything in it but the journal's end.
func (c *claimed) updateRow(tx *transaction, b journal.Batch, ch change) (err error) {
	switch {
	case ch.ended != 0:
		_, err = tx.exec("UPDATE runs SET seq = ?, link = ?, status = ?, ended = ?, summary = ?, owner = NULL, clean = 1, pending = NULL, due = NULL WHERE key = ?",
			int64(b.Last()), b.Link[:], string(ch.status), int64(ch.ended), ch.summary, c.key)
	case b.First == 1:
		_, err = tx.exec("UPDATE runs SET seq = ?, link = ?, status = ?, pending = NULL, due = nullif(?, 0) WHERE key = ?", int64(b.Last()), b.Link[:], string(ch.status), int64(ch.due), c.key)
	case ch.status != c.status || ch.due != c.due:
		_, err = tx.exec("UPDATE runs SET seq = ?, link = ?, status = ?, due = nullif(?, 0) WHERE key = ?", int64(b.Last()), b.Link[:], string(ch.status), int64(ch.due), c.key)
	}
	return err
}

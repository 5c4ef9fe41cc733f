package local

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// collectEvents queues the available events without waiting: answers, then timers by (due, number),
// then the inbox. It stops when a batch is full, so that an endless stream of one kind cannot grow
// the queue.
func (d *drive) collectEvents() error {
	if err := d.takeAnswers(); err != nil {
		return err
	}
	d.session.Fire(d.now(), journal.MaxBatchEvents-len(d.session.Queued()))
	select {
	case <-d.poked:
		return d.engine.explainError(d.lookAround())
	default:
		return nil
	}
}

// takeAnswers queues the answers of attempts and children.
func (d *drive) takeAnswers() error {
	for d.session.HasRoom() {
		select {
		case f := <-d.live.answers:
			d.takeAnswer(f)
		case list := <-d.live.together:
			d.takeTogether(list)
		case end := <-d.children.ends:
			if err := d.childEnded(end); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

func (d *drive) takeAnswer(f *event.AttemptFinished) {
	d.live.forgetAttempt(f.Ticket)
	d.session.Answer(f)
}

// takeTogether queues the answers of one transaction. They may be more than the next batch has room for.
func (d *drive) takeTogether(list []*event.AttemptFinished) {
	for _, f := range list {
		d.takeAnswer(f)
	}
}

// lookAround reads the inbox, and sees whether the store still works and the run is still ours.
func (d *drive) lookAround() error {
	if err := d.engine.commits.currentFailure(); err != nil {
		return err
	}
	ctx := context.Background()
	var owner int64
	if err := d.engine.read.QueryRowContext(ctx, "SELECT coalesce(owner, 0) FROM runs WHERE key = ?", d.run.key).Scan(&owner); err != nil {
		return err
	}
	if owner != d.run.epoch {
		return fmt.Errorf("%w: run %s", engine.ErrFenced, d.run.id)
	}
	rows, err := d.engine.read.QueryContext(ctx, "SELECT id, body FROM inbox WHERE run = ? ORDER BY id LIMIT ?", d.run.key, maxInbox)
	if err != nil {
		return err
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		x, err := scanExternal(rows)
		if err != nil {
			return fmt.Errorf("run %s: %w", d.run.id, err)
		}
		_ = event.Shorten(&x, d.live.files.Put) // if it fails, the message is whole, and the commit meets the same disk
		d.session.Message(x)
	}
	if n == maxInbox {
		d.poke() // there may be more
	}
	d.takeHandedBack()
	return rows.Err()
}

// scanExternal reads a row of the inbox: its number and its body.
func scanExternal(rows *sql.Rows) (event.External, error) {
	var id int64
	var packed []byte
	if err := rows.Scan(&id, &packed); err != nil {
		return event.External{}, err
	}
	return engine.UnpackExternal(id, packed)
}

// maxInbox is how many rows of the inbox are taken at a time.
const maxInbox = 256

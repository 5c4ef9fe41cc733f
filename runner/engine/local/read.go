package local

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// Journal reads a run's journal, as far as it goes at the moment of the call. It holds nothing while each runs, and
// disturbs no one who drives the run. The batches are as stored: journal.NewReader checks them.
func (e *Engine) Journal(ctx context.Context, run string, each func(journal.Batch) error) (_ journal.Header, _ []byte, err error) {
	defer func() { err = e.explainError(err) }()
	c, err := e.scanRun(e.read.QueryRowContext(ctx, runRow, run).Scan, run)
	if err != nil {
		return journal.Header{}, nil, unmarkError(err)
	}
	definition, err := e.definition(ctx, c.header)
	if err != nil {
		return c.header, nil, e.explainMissing(ctx, &c, err)
	}
	return c.header, definition, e.eachBatch(ctx, &c, 0, each)
}

// Batches is Journal without the definition, so that events can be read though that is missing or damaged.
func (e *Engine) Batches(ctx context.Context, run string, each func(journal.Batch) error) (_ journal.Header, err error) {
	defer func() { err = e.explainError(err) }()
	c, err := e.scanRun(e.read.QueryRowContext(ctx, runRow, run).Scan, run)
	if err != nil {
		return journal.Header{}, unmarkError(err)
	}
	return c.header, e.eachBatch(ctx, &c, 0, each)
}

// After reads the part of a run's journal behind an event. seq is the last event of a batch, or 0.
// It is for readers that follow a run that another process drives.
func (e *Engine) After(ctx context.Context, run string, seq uint64, each func(journal.Batch) error) (err error) {
	defer func() { err = e.explainError(err) }()
	c, err := e.scanRun(e.read.QueryRowContext(ctx, runRow, run).Scan, run)
	if err != nil {
		return unmarkError(err)
	}
	return e.eachBatch(ctx, &c, seq, each)
}

// errEnough ends the reading of a journal before its end.
var errEnough = errors.New("enough was read")

// firstEvent reads the beginning of a journal.
func (e *Engine) firstEvent(ctx context.Context, c *claimed) (first event.RunStarted, err error) {
	err = e.eachBatch(ctx, c, 0, func(b journal.Batch) error {
		events, err := journal.NewReader(c.header).Read(b)
		if err != nil {
			return err
		}
		if events[0].RunStarted == nil {
			return fmt.Errorf("%w: run %s has no beginning", journal.ErrBroken, c.id)
		}
		first = *events[0].RunStarted
		return errEnough
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return first, err
}

// eachBatch calls each with the batches of a run behind an event, in their order.
func (e *Engine) eachBatch(ctx context.Context, c *claimed, last uint64, each func(journal.Batch) error) error {
	return e.explainMissing(ctx, c, e.eachPage(ctx, c, last, each))
}

// explainMissing receives the error of reading a run, and checks whether the run still exists: a
// run that was removed meanwhile is not damaged.
func (e *Engine) explainMissing(ctx context.Context, c *claimed, err error) error {
	if !errors.Is(err, journal.ErrBroken) {
		return err
	}
	var rows int
	again := e.read.QueryRowContext(ctx, "SELECT count(*) FROM runs WHERE key = ? AND status != ?", c.key, pruned).Scan(&rows)
	if again == nil && rows == 0 {
		return e.noRun(c.id)
	}
	return err
}

func (e *Engine) eachPage(ctx context.Context, c *claimed, last uint64, each func(journal.Batch) error) error {
	from, limit, files := last+1, firstBatches, e.artifacts.Run(c.id)
	for more := true; more; limit = pageBatches {
		var page []journal.Batch
		var err error
		if page, more, err = e.readPage(ctx, c.key, from, c.seq, limit); err != nil {
			return err
		}
		for _, b := range page {
			b.From = files
			if err := each(b); err != nil {
				return err
			}
			from, last = b.First+1, b.Last()
		}
	}
	if stored := max(c.seq, c.noted.seq); last != stored {
		return fmt.Errorf("%w: run %s: its journal ends at event %d, but events up to %d were stored", journal.ErrBroken, c.id, last, stored)
	}
	return nil
}

// A page is the part of a journal that is read at a time: up to this number of batches, and no
// further batch after this number of bytes. The first page is small: a run that was parked often has no more, and
// many readers want the first event alone.
const (
	firstBatches = 8
	pageBatches  = 256
	pageBytes    = 1 << 20
)

func (e *Engine) readPage(ctx context.Context, key int64, from, to uint64, limit int) (page []journal.Batch, more bool, err error) {
	rows, err := e.read.QueryContext(ctx, `SELECT first, count, digest, link, body FROM batches
		WHERE run = ? AND first >= ? AND first <= ? ORDER BY first LIMIT ?`, key, int64(from), int64(to), limit)
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	size := 0
	for size < pageBytes && rows.Next() {
		var first, digest int64
		var link []byte
		var b journal.Batch
		if err := rows.Scan(&first, &b.Count, &digest, &link, &b.Body); err != nil {
			return nil, false, err
		}
		b.First, b.Digest = uint64(first), uint64(digest)
		copy(b.Link[:], link)
		page, size = append(page, b), size+len(b.Body)
	}
	return page, len(page) == limit || size >= pageBytes, rows.Err()
}

// unmarkError removes the mark for the committer from an error.
func unmarkError(err error) error {
	if no := (refused{}); errors.As(err, &no) {
		return no.error
	}
	return err
}

func (e *Engine) definition(ctx context.Context, h journal.Header) ([]byte, error) {
	var sum, body []byte
	var packed bool
	err := e.read.QueryRowContext(ctx, "SELECT sum, packed, body FROM definitions WHERE hash = ?", h.Definition).Scan(&sum, &packed, &body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("%w: run %s: its definition %s is missing", journal.ErrBroken, h.Run, h.Definition)
	}
	if err != nil {
		return nil, err
	}
	body, err = unpackText(body, packed)
	if have := sha256.Sum256(body); err != nil || !bytes.Equal(have[:], sum) {
		return nil, fmt.Errorf("%w: run %s: its definition %s has changed", journal.ErrBroken, h.Run, h.Definition)
	}
	return body, nil
}

// Source returns the text that the run was started from, or nil where none was kept.
func (e *Engine) Source(ctx context.Context, run string) ([]byte, error) {
	var body []byte
	var packed bool
	err := e.read.QueryRowContext(ctx, `SELECT coalesce(s.body, x''), coalesce(s.packed, 0)
		FROM runs r LEFT JOIN sources s ON s.hash = r.source WHERE r.id = ?`, run).Scan(&body, &packed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("%w: %s", engine.ErrNoRun, run)
	}
	if err != nil || len(body) == 0 {
		return nil, e.explainError(err)
	}
	return unpackText(body, packed)
}

// Inbox returns the requests of other processes to a run that its driver has not taken yet, in
// their order; [maxInbox] at most.
func (e *Engine) Inbox(ctx context.Context, run string) (list []event.External, err error) {
	defer func() { err = e.explainError(err) }()
	rows, err := e.read.QueryContext(ctx, `SELECT i.id, i.body FROM inbox i JOIN runs r ON r.key = i.run
		WHERE r.id = ? ORDER BY i.id LIMIT ?`, run, maxInbox)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		x, err := scanExternal(rows)
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", run, err)
		}
		list = append(list, x)
	}
	return list, rows.Err()
}

package local

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/journal"
)

// Journal reads a run's journal. It reads one moment of the store and disturbs no one who drives the run. The batches are
// as stored: journal.NewReader checks them.
func (e *Engine) Journal(ctx context.Context, run string, each func(journal.Batch) error) (journal.Header, []byte, error) {
	tx, err := e.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return journal.Header{}, nil, err
	}
	defer tx.Rollback()
	c, err := scanRun(tx.QueryRowContext(ctx, runRow, run).Scan, run)
	if err != nil {
		return journal.Header{}, nil, plain(err)
	}
	definition, err := readDefinition(ctx, tx, c.header)
	if err != nil {
		return c.header, nil, err
	}
	last, err := readBatches(ctx, tx, c.key, each)
	if err == nil && last != c.seq {
		err = fmt.Errorf("%w: run %s: its journal ends at event %d, but events up to %d were stored", journal.ErrBroken, run, last, c.seq)
	}
	return c.header, definition, err
}

// plain takes the mark for the committer off an error.
func plain(err error) error {
	if no := (refused{}); errors.As(err, &no) {
		return no.error
	}
	return err
}

func readDefinition(ctx context.Context, tx *sql.Tx, h journal.Header) ([]byte, error) {
	var sum, body []byte
	var packed bool
	err := tx.QueryRowContext(ctx, "SELECT sum, packed, body FROM definitions WHERE hash = ?", h.Definition).Scan(&sum, &packed, &body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("%w: run %s: its definition %s is missing", journal.ErrBroken, h.Run, h.Definition)
	}
	if err != nil {
		return nil, err
	}
	body, err = unpack(body, packed)
	if have := sha256.Sum256(body); err != nil || !bytes.Equal(have[:], sum) {
		return nil, fmt.Errorf("%w: run %s: its definition %s has changed", journal.ErrBroken, h.Run, h.Definition)
	}
	return body, nil
}

// readBatches gives each batch of a run in turn, and the number of the last event.
func readBatches(ctx context.Context, tx *sql.Tx, key int64, each func(journal.Batch) error) (last uint64, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT first, count, digest, link, body FROM batches WHERE run = ? ORDER BY first", key)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var first, digest int64
		var link []byte
		var b journal.Batch
		if err := rows.Scan(&first, &b.Count, &digest, &link, &b.Body); err != nil {
			return 0, err
		}
		b.First, b.Digest = uint64(first), uint64(digest)
		copy(b.Link[:], link)
		if err := each(b); err != nil {
			return 0, err
		}
		last = b.Last()
	}
	return last, rows.Err()
}

// Source returns the text that the run was started from, or nil where none was kept.
func (e *Engine) Source(ctx context.Context, run string) ([]byte, error) {
	var body []byte
	var packed bool
	err := e.read.QueryRowContext(ctx, `SELECT coalesce(s.body, x''), coalesce(s.packed, 0) FROM runs r LEFT JOIN sources s ON s.hash = r.source WHERE r.id = ?`, run).Scan(&body, &packed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("%w: %s", engine.ErrNoRun, run)
	}
	if err != nil || len(body) == 0 {
		return nil, err
	}
	return unpack(body, packed)
}

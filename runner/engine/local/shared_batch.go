package local

import (
	"strings"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

// batchRows are the rows of what runs share for one transaction that answers many attempts. It reads the rows that the
// requests begin with in one statement, reads no row twice, and writes the changed rows together: a statement costs more
// than the row in it. flush must be called before the transaction ends.
type batchRows struct {
	sharedRows
	known   map[shared.Place]*batchRow
	changed []shared.Place // in the order of the first changes
}

// batchRow is a row as it is after the requests so far.
type batchRow struct {
	body    []byte
	found   bool
	changed bool // and not yet written
}

// newBatchRows reads the rows that attempts begin with.
func newBatchRows(tx *transaction, attempts []*event.Attempt) (*batchRows, error) {
	b := &batchRows{sharedRows: sharedRows{tx}, known: map[shared.Place]*batchRow{}}
	var places []shared.Place
	for _, a := range attempts {
		for _, at := range shared.Begins(a) {
			if b.known[at] == nil {
				b.known[at] = &batchRow{}
				places = append(places, at)
			}
		}
	}
	for part := range inParts(places) {
		args := make([]any, 0, 2*len(part))
		for _, at := range part {
			args = append(args, at.Space, at.Key)
		}
		rows, err := tx.reading("SELECT s.space, s.key, s.body FROM (VALUES "+tuples("(?,?)", len(part))+") AS v CROSS JOIN shared AS s ON s.space = v.column1 AND s.key = v.column2", args...)
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			var at shared.Place
			r := &batchRow{found: true}
			if err := rows.Scan(&at.Space, &at.Key, &r.body); err != nil {
				rows.Close()
				return nil, err
			}
			b.known[at] = r
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// inParts cuts a list into parts whose lengths are powers of two, up to 64, so that few statements are prepared.
func inParts(list []shared.Place) func(func([]shared.Place) bool) {
	return func(yield func([]shared.Place) bool) {
		for n := 64; len(list) > 0; {
			if n > len(list) {
				n /= 2
				continue
			}
			if !yield(list[:n]) {
				return
			}
			list = list[n:]
		}
	}
}

func tuples(one string, n int) string { return strings.Repeat(one+",", n-1) + one }

// Get implements shared.Rows.
func (b *batchRows) Get(space, key string) ([]byte, bool, error) {
	at := shared.Place{Space: space, Key: key}
	if r := b.known[at]; r != nil {
		return r.body, r.found, nil
	}
	body, found, err := b.sharedRows.Get(space, key)
	if err == nil {
		b.known[at] = &batchRow{body: body, found: found}
	}
	return body, found, err
}

// Put implements shared.Rows.
func (b *batchRows) Put(space, key string, body []byte) error {
	at := shared.Place{Space: space, Key: key}
	r := b.known[at]
	if r == nil {
		r = &batchRow{}
		b.known[at] = r
	}
	if !r.changed {
		b.changed = append(b.changed, at)
	}
	if body == nil {
		body = []byte{} // not NULL
	}
	r.body, r.found, r.changed = body, true, true
	return nil
}

// flush writes the changed rows.
func (b *batchRows) flush() error {
	for part := range inParts(b.changed) {
		args := make([]any, 0, 3*len(part))
		for _, at := range part {
			args = append(args, at.Space, at.Key, b.known[at].body)
		}
		if _, err := b.in.exec("INSERT INTO shared (space, key, body) VALUES "+tuples("(?,?,?)", len(part))+" ON CONFLICT DO UPDATE SET body = excluded.body", args...); err != nil {
			return err
		}
	}
	for _, at := range b.changed {
		b.known[at].changed = false
	}
	b.changed = b.changed[:0]
	return nil
}

// Delete implements shared.Rows.
func (b *batchRows) Delete(space, key string) error {
	if err := b.flush(); err != nil {
		return err
	}
	b.known[shared.Place{Space: space, Key: key}] = &batchRow{}
	return b.sharedRows.Delete(space, key)
}

// Clear implements shared.Rows.
func (b *batchRows) Clear(space string) error {
	if err := b.flush(); err != nil {
		return err
	}
	clear(b.known)
	return b.sharedRows.Clear(space)
}

// Scan implements shared.Rows.
func (b *batchRows) Scan(space, from string, each func(key string, body []byte) bool) error {
	if err := b.flush(); err != nil {
		return err
	}
	return b.sharedRows.Scan(space, from, each)
}

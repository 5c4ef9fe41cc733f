package local

import (
	"strings"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

// batchRows are the rows of what runs share for one transaction that answers many attempts. It reads the rows that the
// requests begin with in few statements, reads no row twice, and writes the changed rows together: a statement costs more
// than the row in it. flush must be called before the transaction ends.
type batchRows struct {
	sharedRows
	answers []shared.Place // where the answers of the attempts are recorded
	spaces  map[string]*batchSpace
	order   []*batchSpace // in the order of their first use
	last    *batchSpace   // the space that was used last, or nil
	spare   []batchRow
	args    []any
	packs   *packs // of the recorded answers; nil: each is a row
}

// batchSpace has the rows of a space that were read or changed.
type batchSpace struct {
	name    string
	rows    map[string]*batchRow
	begins  []string // keys of rows that are read first
	answers []string // keys of the answers of first attempts. They are read first only where an answer may have been recorded
	changed []string // in the order of the first changes
	packs   bool     // some of the rows may be in packs
	again   bool     // some of these are recorded answers of earlier attempts
}

// batchRow is a row as it is after the requests so far.
type batchRow struct {
	body    []byte
	found   bool
	changed bool // and not yet written
	packs   bool // it is a recorded answer that may be in a pack
}

// prepare forgets all rows, and notes which rows attempts begin with. It needs no transaction.
func (b *batchRows) prepare(attempts []*event.Attempt) {
	if b.spaces == nil {
		b.spaces = map[string]*batchSpace{}
	}
	for _, s := range b.order {
		clear(s.rows)
		s.begins, s.answers, s.changed, s.packs, s.again = s.begins[:0], s.answers[:0], s.changed[:0], false, false
	}
	clear(b.spare)
	b.answers, b.spare = b.answers[:0], b.spare[:0]
	var buf [2]shared.Place
	for _, a := range attempts {
		at := shared.AnswerPlace(a)
		b.answers = append(b.answers, at)
		if s := b.space(at.Space); s.rows[at.Key] == nil {
			r, kv := b.newRow(), a.Store.KV != nil
			s.rows[at.Key], r.packs, s.packs = r, kv, s.packs || kv
			if kv && a.Attempt == 1 {
				s.answers = append(s.answers, at.Key)
			} else {
				s.begins, s.again = append(s.begins, at.Key), s.again || kv
			}
		}
		for _, at := range shared.AppendBegins(buf[:0], a) {
			if s := b.space(at.Space); s.rows[at.Key] == nil {
				s.rows[at.Key] = b.newRow()
				s.begins = append(s.begins, at.Key)
			}
		}
	}
}

func (b *batchRows) newRow() *batchRow {
	if len(b.spare) == cap(b.spare) {
		b.spare = make([]batchRow, 0, max(16, 2*cap(b.spare))) // rows in use stay where they are
	}
	b.spare = append(b.spare, batchRow{})
	return &b.spare[len(b.spare)-1]
}

// begin reads the rows that the attempts begin with. answered tells that the answer of a first attempt may have been recorded, too: it was
// not if nobody but this drive has answered attempts of the run, because a drive asks for a first attempt once.
func (b *batchRows) begin(tx *transaction, answered bool) error {
	b.sharedRows = sharedRows{tx}
	for _, s := range b.order {
		err := b.read(s, s.begins)
		if err == nil && answered {
			err = b.read(s, s.answers)
		}
		if err == nil && b.packs != nil && s.packs && (answered || s.again) {
			if err = b.packs.read(b.sharedRows, s.name); err == nil {
				b.packs.fill(s)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *batchRows) space(name string) *batchSpace {
	if b.last != nil && b.last.name == name {
		return b.last
	}
	s := b.spaces[name]
	if s == nil {
		s = &batchSpace{name: name, rows: map[string]*batchRow{}}
		b.spaces[name], b.order = s, append(b.order, s)
	}
	b.last = s
	return s
}

// read reads rows of a space.
func (b *batchRows) read(s *batchSpace, keys []string) error {
	for part := range inParts(keys) {
		args := b.args[:0]
		for _, key := range part {
			args = append(args, key)
		}
		b.args = append(args, s.name)
		rows, err := b.in.reading("SELECT s.key, s.body FROM (VALUES "+tuples("(?)", len(part))+
			") AS v CROSS JOIN shared AS s ON s.space = ? AND s.key = v.column1", b.args...)
		if err != nil {
			return err
		}
		for rows.Next() {
			var key string
			var body []byte
			if err := rows.Scan(&key, &body); err != nil {
				rows.Close()
				return err
			}
			r := s.rows[key]
			r.body, r.found = body, true
		}
		if err := rows.Err(); err != nil {
			return err
		}
	}
	return nil
}

// maxPart is how many rows one statement reads or writes at most.
const maxPart = 256

// inParts cuts a list into parts whose lengths are powers of two, up to maxPart, so that few statements are prepared.
func inParts(list []string) func(func([]string) bool) {
	return func(yield func([]string) bool) {
		for n := maxPart; len(list) > 0; {
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
	s := b.space(space)
	if r := s.rows[key]; r != nil {
		return r.body, r.found, nil
	}
	body, found, err := b.sharedRows.Get(space, key)
	if err == nil {
		r := b.newRow()
		r.body, r.found = body, found
		s.rows[key] = r
	}
	return body, found, err
}

// Put implements shared.Rows.
func (b *batchRows) Put(space, key string, body []byte) error {
	s := b.space(space)
	r := s.rows[key]
	if r == nil {
		r = b.newRow()
		s.rows[key] = r
	}
	if !r.changed {
		s.changed = append(s.changed, key)
	}
	if body == nil {
		body = []byte{} // not NULL
	}
	r.body, r.found, r.changed = body, true, true
	return nil
}

// flush writes the changed rows.
func (b *batchRows) flush() error {
	for _, s := range b.order {
		if err := b.write(s); err != nil {
			return err
		}
	}
	return nil
}

// write writes the changed rows of a space. A statement binds the name of the space once.
func (b *batchRows) write(s *batchSpace) error {
	if b.packs != nil && s.packs {
		if key, body, ok := b.packs.pack(s); ok {
			if err := b.sharedRows.Put(s.name, key, body); err != nil {
				return err
			}
		}
	}
	for part := range inParts(s.changed) {
		args := append(b.args[:0], s.name)
		for _, key := range part {
			r := s.rows[key]
			args = append(args, key, r.body)
			r.changed = false
		}
		b.args = args
		if _, err := b.in.exec("INSERT INTO shared (space, key, body) VALUES "+tuples("(?1,?,?)", len(part))+
			" ON CONFLICT DO UPDATE SET body = excluded.body", args...); err != nil {
			return err
		}
	}
	s.changed = s.changed[:0]
	return nil
}

// Delete implements shared.Rows.
func (b *batchRows) Delete(space, key string) error {
	if err := b.flush(); err != nil {
		return err
	}
	b.space(space).rows[key] = b.newRow()
	return b.sharedRows.Delete(space, key)
}

// Clear implements shared.Rows.
func (b *batchRows) Clear(space string) error {
	if err := b.flush(); err != nil {
		return err
	}
	clear(b.space(space).rows)
	return b.sharedRows.Clear(space)
}

// Scan implements shared.Rows.
func (b *batchRows) Scan(space, from string, each func(key string, body []byte) bool) error {
	if err := b.flush(); err != nil {
		return err
	}
	return b.sharedRows.Scan(space, from, each)
}

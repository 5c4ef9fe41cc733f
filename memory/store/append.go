package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/memory/entry"
)

// Append stores records in one transaction and gives them back as stored, with their numbers. When it returns they are durable;
// after an error none of them is in the state. A record that does not fit the state is refused with the errors of package entry.
func (s *Store) Append(ctx context.Context, records ...entry.Record) (stored []entry.Record, err error) {
	stored, err = s.update(ctx, func(*entry.State) ([]entry.Record, error) { return records, nil })
	return stored, inStore(s.dir, err)
}

// Update folds in what other processes wrote, lets f decide by it what to append, and appends that, all in one transaction. f may
// be called again if the database was replaced meanwhile; it may neither call the store nor change the state.
func (s *Store) Update(ctx context.Context, f func(*entry.State) ([]entry.Record, error)) error {
	_, err := s.update(ctx, f)
	return inStore(s.dir, err)
}

// Refresh folds in what other processes wrote, and tells whether there was anything. Where the disk is so full that it can't look,
// what was known stays.
func (s *Store) Refresh(ctx context.Context) (changed bool, err error) {
	before, seq := s.last()
	err = s.turn(ctx, func() error { return s.catchUp() })
	if s.options.frozen || errors.Is(err, ErrFull) {
		err = nil // what lies where nobody writes does not change
	}
	after, last := s.last()
	return after != before || last != seq, inStore(s.dir, err)
}

// last is the state and its last number; others may be folding in records meanwhile.
func (s *Store) last() (*entry.State, uint64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state, s.state.Last()
}

func (s *Store) update(ctx context.Context, f func(*entry.State) ([]entry.Record, error)) (stored []entry.Record, err error) {
	if s.options.ReadOnly || s.options.frozen {
		return nil, ErrReadOnly
	}
	err = s.turn(ctx, func() error {
		if s.failed != nil {
			return s.failed
		}
		stored, err = s.commit(f)
		return err
	})
	return stored, err
}

// commit is one transaction. The state takes what it stores once that is durable.
func (s *Store) commit(f func(*entry.State) ([]entry.Record, error)) (stored []entry.Record, err error) {
	if err := s.db.exec("BEGIN IMMEDIATE"); err != nil {
		return nil, err
	}
	begun := true
	defer func() {
		if begun {
			s.db.exec("ROLLBACK") // fails where SQLite has done it by itself
		}
	}()
	if err := s.catchUp(); err != nil {
		return nil, err
	}
	records, err := f(s.state)
	if err != nil || len(records) == 0 {
		return nil, err
	}
	if err := s.state.Check(records...); err != nil {
		return nil, err
	}
	stored = append(stored, records...)
	rows, names := make([]row, len(stored)), make([]row, len(stored))
	for i := range stored {
		stored[i].Seq = s.state.Last() + uint64(i) + 1
		if rows[i], err = encode(&stored[i], s.id); err != nil {
			return nil, err
		}
		names[i] = makeRow(ofName, s.id, stored[i].Seq, nameOf(&stored[i]))
	}
	if err := s.db.insert(rows, names); err != nil {
		return nil, s.giveUp(err)
	}
	if err := s.db.exec("COMMIT"); err != nil {
		return nil, s.giveUp(err)
	}
	begun, s.db.wrote = false, true
	if err := s.fold(stored); err != nil {
		return nil, err
	}
	// The records are durable; what goes wrong now is for the next one to hear.
	if err := errors.Join(s.writeMark(rows[len(rows)-1]), s.db.log.Checkpoint()); err != nil {
		s.giveUp(err)
	}
	return stored, nil
}

// giveUp lets nothing more be written after an error that leaves it open what the disk holds. A full disk does not.
func (s *Store) giveUp(err error) error {
	if sorted := sort(err); !isDamage(sorted) && !errors.Is(sorted, ErrFull) && !errors.Is(sorted, ErrBusy) && !errors.Is(sorted, ErrTooLarge) {
		s.failed = fmt.Errorf("after an error nothing more is written to the memory before it is opened afresh: %w", err)
	}
	return err
}

// insert puts each record where it belongs: twice, and its name.
func (d *database) insert(rows, names []row) error {
	for _, to := range []struct {
		table string
		rows  []row
	}{{"records", rows}, {"copies", rows}, {"names", names}} {
		statement, err := d.PrepareContext(context.Background(), "INSERT INTO "+to.table+" (seq, body, sum) VALUES (?, ?, ?)")
		if err != nil {
			return err
		}
		defer statement.Close()
		for _, r := range to.rows {
			if _, err := statement.Exec(r.seq, r.body, r.sum); err != nil {
				return err
			}
		}
	}
	return nil
}

// catchUp folds in the records that other processes stored.
func (s *Store) catchUp() error {
	var news []entry.Record
	if err := s.db.readAfter(s.state.Last(), s.id, func(_ row, r entry.Record) error {
		news = append(news, r)
		return nil
	}); err != nil {
		return err
	}
	return s.fold(news)
}

// fold applies records that are stored. Only the holder of working changes the state, so it may read it without the lock.
func (s *Store) fold(records []entry.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range records {
		if err := s.state.Apply(r); err != nil {
			return &damage{err}
		}
	}
	return nil
}

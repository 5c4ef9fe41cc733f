package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/private/durable"
)

// errAlone: what is to be done takes the exclusive lock.
var errAlone = errors.New("the memory is to be made or brought forward")

// load takes the state from the files, whatever it takes: making them, bringing them forward, rebuilding them. cause is the damage
// that somebody else has found in the open database, or nil.
func (s *Store) load(ctx context.Context, cause error) error {
	if s.options.Look {
		return s.look(ctx, cause)
	}
	if !isDamage(cause) {
		unlock, err := s.locked(ctx, shared)
		if err != nil {
			return err
		}
		err = sort(s.read(false))
		unlock()
		if !isDamage(err) && !errors.Is(err, errAlone) {
			return err
		}
	}
	unlock, err := s.locked(ctx, exclusive)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.finishSwap(); err != nil {
		return err
	}
	if !isDamage(cause) || s.db == nil || s.isReplaced() { // else it is known already, and not for every eye to see
		if cause = sort(s.read(true)); !isDamage(cause) {
			return cause
		}
	}
	return s.rebuild(cause)
}

// look takes the state as it is, by hand where the database is damaged: nothing is made, marked, brought forward or rebuilt.
func (s *Store) look(ctx context.Context, cause error) error {
	if !isDamage(cause) {
		unlock, err := s.locked(ctx, shared)
		if err != nil {
			return err
		}
		cause = sort(s.read(false))
		unlock()
		if !isDamage(cause) && !errors.Is(cause, errAlone) {
			return cause
		}
	}
	if s.db != nil {
		if err := s.db.Close(); err != nil { // it was open for reading only: SQLite leaves the log as it is
			return err
		}
		s.db = nil
	}
	if err := s.readBare(); err != nil {
		return err
	}
	if errors.Is(cause, errAlone) {
		s.options.frozen = true
		s.options.Warn("the next command that uses the memory creates it or upgrades it")
		return nil
	}
	s.failed = fmt.Errorf("the memory is damaged: %w", cause)
	return nil
}

// read opens the database, if it is not open, and takes the state from it. Whatever it finds wrong is damage. alone tells that the
// exclusive lock is held. A database in which something is wrong stays open: by closing it SQLite would write back of its log
// what it takes for whole, and throw the rest away.
func (s *Store) read(alone bool) error {
	m := readMark(s.marks) // first: it may be behind what is read, but not ahead
	if s.size(freshFile) > 0 {
		return errAlone // a swap was cut off
	}
	if s.size(databaseFile) == 0 {
		switch { // SQLite would throw the log of an empty database away
		case m.seq > 0 || s.size(logFile) > 0:
			return damagef("%s is missing or empty", databaseFile)
		case !alone:
			return errAlone
		}
		if err := createEmpty(s.path(databaseFile)); err != nil {
			return err
		}
	}
	if err := s.reach(); err != nil {
		return err
	}
	id, err := s.identify(m, alone)
	if err != nil {
		return err
	}
	state, marked, last, err := s.db.readAll(id, m.seq)
	if err != nil {
		return err
	}
	if m.store == id && m.seq > state.Last() {
		return damagef("%d records were stored, the database ends at record %d", m.seq, state.Last())
	}
	now := mark{state.Last(), last, id}
	if s.options.Look {
		s.id, s.failed = id, nil
		s.show(state)
		return nil // Check compares the mark
	}
	if m != (mark{}) && (m.store != id || m.seq > 0 && marked != m.sum) {
		s.options.Warn(fmt.Sprintf("%s is not the one that was here: another of the same name, with %d records, has taken its place", s.path(databaseFile), state.Last()))
		err = now.set(s.marks)
	} else {
		err = now.raise(s.marks)
	}
	if err != nil {
		return err
	}
	if s.size(logFile) > 0 {
		if err := durable.Settle(s.db.Conn); err != nil {
			return err
		}
	}
	s.id, s.failed = id, nil
	s.show(state)
	return nil
}

// reach opens the database unless it is open, and the one in the folder.
func (s *Store) reach() (err error) {
	if s.db != nil && s.isReplaced() {
		if err := s.db.Close(); err != nil {
			return err
		}
		s.db = nil
	}
	if s.db == nil {
		s.db, err = s.openDatabase()
	}
	return err
}

func (s *Store) show(state *entry.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
}

// identify finds out which store it is. A fresh database becomes one, and an older one is brought forward.
func (s *Store) identify(m mark, alone bool) (id storeID, err error) {
	var tables, application, version int
	if err := s.db.ask("SELECT (SELECT count(*) FROM sqlite_schema), (SELECT * FROM pragma_application_id), (SELECT * FROM pragma_user_version)",
		&tables, &application, &version); err != nil {
		return id, err
	}
	if tables == 0 && m.seq == 0 && version == 0 && application == 0 {
		if !alone {
			return id, errAlone
		}
		id = newID()
		return id, s.db.migrate(id, 0)
	}
	if err := s.checkSchema(version); err != nil {
		return id, err
	}
	r := row{}
	if err := s.db.ask("SELECT body, sum FROM records WHERE seq = 0", &r.body, &r.sum); errors.Is(err, sql.ErrNoRows) {
		return id, damagef("the database's own name is gone")
	} else if err != nil {
		return id, err
	}
	id, have, ok := r.readIdentity()
	switch {
	case !ok:
		return id, damagef("the database's own name does not verify")
	case have > len(migrations):
		return id, &NewerStore{have, len(migrations)}
	case have != version || application != applicationID:
		return id, damagef("the database says that it is %x of version %d", application, version)
	case have == len(migrations):
		return id, nil
	case !alone:
		return id, errAlone
	}
	return id, s.forward(id, have)
}

// checkSchema refuses a database that holds anything but what the migrations have made, before a trigger of it could fire. What damage
// did to the schema is damage, and so is a schema of a version that this release does not know: who searches the pages by hand, with a
// checksum for each row, finds a newer release's word.
func (s *Store) checkSchema(version int) error {
	other := version < 0 || version > len(migrations)
	have := migrations
	if !other {
		have = migrations[:version]
	}
	err := durable.CheckSchema(context.Background(), s.db, have, schemaSum)
	foreign, changed := (*durable.Foreign)(nil), (*durable.Changed)(nil)
	switch {
	case errors.As(err, &changed), other && errors.As(err, &foreign):
		return &damage{err}
	case errors.As(err, &foreign):
		return fmt.Errorf("%w: %w", ErrForeign, err)
	}
	return err
}

// readAll folds all records, and gives the checksums of the one that is marked and of the last one.
func (d *database) readAll(id storeID, at uint64) (state *entry.State, marked, last [sumSize]byte, err error) {
	state = &entry.State{}
	err = d.readAfter(0, id, func(r row, record entry.Record) error {
		if last = [sumSize]byte(r.sum); r.seq == at {
			marked = last
		}
		if err := state.Apply(record); err != nil {
			return &damage{err}
		}
		return nil
	})
	return state, marked, last, err
}

// readAfter reads the records after a number, and verifies each.
func (d *database) readAfter(seq uint64, id storeID, f func(row, entry.Record) error) error {
	rows, err := d.QueryContext(context.Background(), "SELECT seq, body, sum FROM records WHERE seq > ? ORDER BY seq", seq)
	if err != nil {
		return err
	}
	defer rows.Close()
	var body, sum sql.RawBytes
	for rows.Next() {
		var r row
		if err := rows.Scan(&r.seq, &body, &sum); err != nil {
			return &damage{err}
		}
		r.body, r.sum = body, sum
		record, err := r.open(id)
		if err != nil {
			return err
		}
		if err := f(r, record); err != nil {
			return err
		}
	}
	return rows.Err()
}

// open gives the record that a row holds, if it is the one that was stored.
func (r row) open(id storeID) (entry.Record, error) {
	if !r.verify(ofRecord, id) {
		return entry.Record{}, damagef("record %d is not what was stored", r.seq)
	}
	record, err := decode(r.body)
	if err != nil || record.Seq != r.seq {
		return record, damagef("record %d cannot be read: %v", r.seq, err)
	}
	return record, nil
}

// writeMark tells that a record was the last one to be stored.
func (s *Store) writeMark(r row) error {
	return mark{r.seq, [sumSize]byte(r.sum), s.id}.raise(s.marks)
}

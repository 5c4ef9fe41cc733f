package store

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"

	"github.com/flowrun/flowrun/memory/entry"
)

// mostComplaints is how many of SQLite's complaints a report has.
const mostComplaints = 20

// Report is what Check finds.
type Report struct {
	// Path is the database's.
	Path string
	// Records and Entries are how many there are, hidden entries included.
	Records, Entries int
	// Bytes is the size of the database and its log.
	Bytes int64
	// Problems are what is wrong now, in sentences for people. None of it has cost anything yet; Rebuild mends it.
	Problems []string
	// Losses are what damage took before, with the ids that it was about.
	Losses []entry.Loss
	// Damaged are the files that rebuilds have kept.
	Damaged []string
}

// Check reads all that is stored, both copies and the names, and lets SQLite check its own pages. It takes about ten times as long
// as an open. An error means that it could not look.
func (s *Store) Check(ctx context.Context) (r Report, err error) {
	r.Path = s.path(databaseFile)
	if !s.options.frozen {
		err = s.turn(ctx, func() error {
			if err := s.catchUp(); err != nil {
				return err
			}
			r.Problems = s.examine()
			return nil
		})
	}
	if s.failed != nil && !s.options.frozen {
		r.Problems, err = append(r.Problems, s.failed.Error()), nil
	}
	s.View(func(state *entry.State) {
		r.Records, r.Entries, r.Losses = int(state.Last()), state.Len(), state.Damage()
	})
	r.Bytes = s.size(databaseFile) + s.size(logFile)
	if err == nil {
		r.Damaged, err = s.Damaged()
	}
	return r, inStore(s.dir, err)
}

// Rebuild makes a fresh database of what can be read of this one, as an open does that finds damage.
func (s *Store) Rebuild(ctx context.Context) error {
	asked := false
	return inStore(s.dir, s.turn(ctx, func() error {
		if asked {
			return nil
		}
		asked = true
		return damagef("a rebuild was asked for")
	}))
}

// examine compares all that should be equal, under the shared lock.
func (s *Store) examine() (problems []string) {
	report := func(format string, args ...any) {
		if len(problems) < mostComplaints {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	if m := readMark(s.marks); m.store != s.id || m.seq > s.state.Last() {
		report("%s does not belong to the database", markFile)
	}
	rows, err := s.db.QueryContext(context.Background(), fmt.Sprintf("PRAGMA integrity_check(%d)", mostComplaints))
	if err != nil {
		report("SQLite cannot check its pages: %v", err)
	} else {
		defer rows.Close()
		for text := ""; rows.Next(); {
			if err := rows.Scan(&text); err != nil || text != "ok" {
				report("SQLite says: %s", text)
			}
		}
		if err := rows.Err(); err != nil {
			report("SQLite cannot check its pages: %v", err)
		}
	}
	sums := s.examineTable("records", ofRecord, nil, report)
	s.examineTable("copies", ofRecord, sums, report)
	s.examineTable("names", ofName, nil, report)
	return problems
}

// examineTable verifies each row of a table, that none is missing but those that a loss stands for, and that the checksums are
// those given, if they are.
func (s *Store) examineTable(table string, sort byte, want map[uint64][]byte, report func(string, ...any)) (sums map[uint64][]byte) {
	rows, err := s.db.QueryContext(context.Background(), "SELECT seq, body, sum FROM "+table+" WHERE seq > 0 ORDER BY seq")
	if err != nil {
		report("table %s cannot be read: %v", table, err)
		return nil
	}
	defer rows.Close()
	sums = map[uint64][]byte{}
	var body, sum sql.RawBytes
	for rows.Next() {
		var r row
		if err := rows.Scan(&r.seq, &body, &sum); err != nil {
			report("table %s: %v", table, err)
			continue
		}
		r.body, r.sum = body, sum
		if !r.verify(sort, s.id) || want != nil && !bytes.Equal(want[r.seq], r.sum) {
			report("table %s: record %d is not what was stored", table, r.seq)
		}
		sums[r.seq] = bytes.Clone(sum)
	}
	if err := rows.Err(); err != nil {
		report("table %s cannot be read to its end: %v", table, err)
	}
	missing := s.state.Last()
	for _, l := range s.state.Damage() {
		missing -= l.Seq - l.From
	}
	if missing -= uint64(len(sums)); missing != 0 {
		report("table %s: %d records are missing", table, missing)
	}
	return sums
}

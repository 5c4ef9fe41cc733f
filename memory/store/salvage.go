package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/private"
)

const (
	// maxSalvage is how large the database and its log may each be to be searched, in bytes: they are read whole.
	maxSalvage = 4 << 30
	// lossSpan is how many missing records one record of a loss stands for at most.
	lossSpan = 1000
	// namedInReason is how many records the reason of a loss spells out. Its IDs have all.
	namedInReason = 20
)

// salvage is what the pages still hold.
type salvage struct {
	id      storeID
	version int
	bodies  map[uint64]row
	names   map[uint64]row
	last    uint64 // the highest number that was stored
}

// search reads the files by hand.
func (s *Store) search() (*salvage, error) {
	m := s.mark() // first, and the log before the database: what moves from one to the other meanwhile is seen once at least
	log, err := s.readWhole(logFile)
	if err != nil {
		return nil, err
	}
	database, err := s.readWhole(databaseFile)
	if err != nil {
		return nil, err
	}
	f := searchPages(database, log, m)
	switch {
	case f.version > len(migrations):
		return nil, &NewerStore{f.version, len(migrations)}
	case f.version == 0 && m == (mark{}):
		return nil, fmt.Errorf("%w: %s has none of its records; move it away", ErrNotStore, databaseFile)
	}
	return f, nil
}

func (s *Store) readWhole(name string) ([]byte, error) {
	if _, err := os.Lstat(s.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err // it can't be looked at, which says nothing of what is in it
	}
	size := s.size(name)
	if size == 0 { // or a folder in its place
		return nil, nil
	}
	if size > maxSalvage {
		return nil, fmt.Errorf("%s has %d bytes, and only %d can be searched for what is left of it", name, size, int64(maxSalvage))
	}
	b, err := private.ReadFile(s.path(name), maxSalvage)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return b, err
}

// searchPages takes each row that verifies. What was never committed counts only where something acknowledged is missing.
func searchPages(database, log []byte, m mark) *salvage {
	present, remains := images(database, log)
	f := &salvage{id: m.store, bodies: map[uint64]row{}, names: map[uint64]row{}, last: m.seq}
	for _, image := range []image{present, remains} {
		for r := range image.rows() {
			if id, version, ok := r.readIdentity(); ok && (m.store == id || m.store == storeID{} || f.version == 0) && version >= f.version {
				f.id, f.version = id, version
			}
		}
	}
	if f.id != m.store {
		f.last = 0 // the mark is another store's
	}
	f.take(present, ^uint64(0))
	limit := f.last
	if m == (mark{}) {
		limit = ^uint64(0)
	}
	f.take(remains, limit)
	return f
}

func (f *salvage) take(m image, limit uint64) {
	for r := range m.rows() {
		if r.seq == 0 || r.seq > limit {
			continue
		}
		for _, as := range []struct {
			sort byte
			in   map[uint64]row
		}{{ofRecord, f.bodies}, {ofName, f.names}} {
			if _, have := as.in[r.seq]; !have && r.verify(as.sort, f.id) {
				as.in[r.seq] = r
				f.last = max(f.last, r.seq)
				break
			}
		}
	}
}

// history is what a salvage amounts to: rows for a fresh database, and their state.
type history struct {
	id          storeID
	state       *entry.State
	rows, names []row
	gap         []uint64 // numbers whose loss no record tells yet
	orphans     []string // ids that records name and nobody put
	losses      int      // records that are gone
	lost        []string // the ids that they were about
}

// history puts what was found in order, with records of the losses in the gaps. A record that does not fit, because one that it
// builds on is lost, is lost with it.
func (f *salvage) history(cause error, now time.Time) (*history, error) {
	h := &history{id: f.id, state: &entry.State{}, orphans: f.orphans()}
	for seq := uint64(1); seq <= f.last; seq++ {
		r, found := f.bodies[seq]
		if found {
			if err := h.tell(f, cause, now); err != nil {
				return nil, err
			}
			record, err := r.open(f.id)
			found = err == nil && h.add(record, r) == nil
		}
		if !found {
			h.gap = append(h.gap, seq)
		}
		if len(h.gap) == lossSpan {
			if err := h.tell(f, cause, now); err != nil {
				return nil, err
			}
		}
	}
	return h, h.tell(f, cause, now)
}

func (h *history) add(record entry.Record, r row) error {
	if err := h.state.Apply(record); err != nil {
		return err
	}
	h.rows = append(h.rows, r)
	h.names = append(h.names, makeRow(ofName, h.id, record.Seq, nameOf(&record)))
	return nil
}

// tell puts a record of the loss where a gap is, with the last number of it.
func (h *history) tell(f *salvage, cause error, now time.Time) error {
	if len(h.gap) == 0 {
		return nil
	}
	r := entry.Record{Seq: h.gap[len(h.gap)-1], At: now, Op: entry.Lost, IDs: h.orphans}
	var words []string
	for _, seq := range h.gap {
		word := fmt.Sprintf("record %d", seq)
		if name, known := f.names[seq]; known {
			op, ids := splitName(name.body)
			r.IDs = append(r.IDs, ids...)
			word += fmt.Sprintf(" (%s %s)", op, strings.Join(ids[:min(len(ids), namedInReason)], ", "))
		}
		words = append(words, word)
	}
	if more := len(words) - namedInReason; more > 0 {
		words = append(words[:namedInReason], fmt.Sprintf("and %d more up to record %d", more, r.Seq))
	}
	slices.Sort(r.IDs)
	r.IDs = slices.Compact(r.IDs)
	r.Reason = fmt.Sprintf("damage (%v) took %s", cause, strings.Join(words, ", "))
	encoded, err := encode(&r, h.id)
	if err != nil {
		return err
	}
	h.losses, h.lost = h.losses+len(h.gap), append(h.lost, r.IDs...)
	h.gap, h.orphans = nil, nil
	return h.add(r, encoded)
}

// orphans are the ids that records name although nobody put them: of entries whose very name was lost.
func (f *salvage) orphans() (ids []string) {
	put := map[string]bool{}
	var named []string
	for _, r := range f.bodies { // any order: the result is sorted
		record, err := r.open(f.id)
		switch {
		case err != nil:
		case record.Op == entry.Put:
			put[record.Entry.ID] = true
		default:
			named = append(named, record.IDs...)
			if record.Op == entry.Supersede || record.Op == entry.Link {
				named = append(named, record.Other)
			}
		}
	}
	slices.Sort(named)
	for _, id := range slices.Compact(named) {
		if !put[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

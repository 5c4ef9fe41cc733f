package engine

import (
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// Record is a run that a host keeps in memory.
type Record struct {
	Start   Start
	Batches []journal.Batch
	Inbox   Inbox
}

// Keep adds a batch of the run, and drops the messages among its events.
func (r *Record) Keep(b journal.Batch, events []event.Event) {
	r.Batches = append(r.Batches, b)
	r.Inbox.Forget(events)
}

// Read reads the journal: see [JournalReader].
func (r *Record) Read(each func(journal.Batch) error) (journal.Header, []byte, error) {
	for _, b := range r.Batches {
		if err := each(b); err != nil {
			return r.Start.Header, r.Start.Definition, err
		}
	}
	return r.Start.Header, r.Start.Definition, nil
}

// Session returns a session of the run, which has nothing of the journal yet.
func (r *Record) Session(f Factory) (*Session, error) {
	m, err := f(r.Start.Header, r.Start.Definition)
	if err != nil {
		return nil, err
	}
	return NewSession(r.Start, m), nil
}

// Rebuild replays the journal in a session, and calls show after each batch. last is nil if the journal is empty.
func (r *Record) Rebuild(s *Session, show func(*Round)) (last *Round, err error) {
	for i := 0; i < len(r.Batches) && err == nil; i++ {
		if last, err = s.Rebuild(r.Batches[i]); err == nil {
			show(last)
		}
	}
	return last, err
}

package runner

import (
	"context"
	"errors"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/view"
)

// Entries calls each with every event of a run's journal and its consequences, as far as the replay matches the journal. From there on
// each gets the events alone; alone hears the number of the first such event, and the reason. A damaged journal ends with an error behind
// its last whole event.
func (s *Service) Entries(ctx context.Context, run string, each func(*view.Entry), alone func(from uint64, why error)) error {
	l := newLister(run, each)
	p, err := s.Past(ctx, run)
	if err == nil {
		p.View.Forget() // an entry is not needed any more when each returns
		_, err = s.Batches(ctx, run, func(b journal.Batch) error { return l.addBatch(p, b) })
	}
	var apart *unlike
	if err == nil || p != nil && !errors.As(err, &apart) {
		return err
	}
	alone(l.seq+1, err)
	return l.addAlone(ctx, s.Reader)
}

// lister makes the entries of a journal.
type lister struct {
	run     string
	each    func(*view.Entry)
	started event.Time
	why     map[uint64]string // of timers that were set
	heard   map[uint64]bool   // tickets that were answered
	batch   []view.Entry      // entries of one batch; only its end shows whether the replay matches
	seq     uint64            // of the last event that was given
}

func newLister(run string, each func(*view.Entry)) *lister {
	return &lister{run: run, each: each, why: map[uint64]string{}, heard: map[uint64]bool{}}
}

// unlike is an error of a replay that does not match the journal: every error except damage of the journal itself.
type unlike struct{ error }

func (u *unlike) Unwrap() error { return u.error }

// addBatch gives the entries of a batch.
func (l *lister) addBatch(p *Past, b journal.Batch) error {
	l.batch = l.batch[:0]
	err := p.ReplayBatch(b, func(s Seen) bool {
		l.batch = append(l.batch, l.newEntry(s))
		return true
	})
	switch {
	case errors.Is(err, journal.ErrBroken):
		return err
	case err != nil:
		return &unlike{err}
	}
	for i := range l.batch {
		l.give(&l.batch[i])
	}
	return nil
}

// newEntry returns the entry of a replayed event, with the consequences that the event itself does not say.
func (l *lister) newEntry(s Seen) view.Entry {
	e := view.Entry{Event: s.Event, Known: true}
	for _, c := range s.Caused.Commands {
		if c.SetTimer != nil {
			l.why[c.SetTimer.Timer] = string(c.SetTimer.Purpose)
		}
	}
	if t := s.Event.TimerFired; t != nil {
		e.Why = l.why[t.Timer]
		delete(l.why, t.Timer)
	}
	e.Asked = append(e.Asked, s.Caused.Commands...)
	for _, line := range s.Lines {
		if line.Type != view.Resumed && !line.AsksToEnd() { // these say the event itself
			e.Caused = append(e.Caused, line)
		}
	}
	x := s.Event.External
	e.Dropped = len(s.Caused.Commands)+len(s.Caused.Transitions) == 0 && s.Event.DriverChanged == nil && (x == nil || x.Kind != event.ExternalSession)
	return e
}

// addAlone gives the remaining events, without their consequences.
func (l *lister) addAlone(ctx context.Context, r engine.Reader) error {
	h, err := r.Batches(ctx, l.run, func(journal.Batch) error { return ErrEnough })
	if err != nil && !errors.Is(err, ErrEnough) {
		return err
	}
	reader := journal.NewReader(h)
	_, err = r.Batches(ctx, l.run, func(b journal.Batch) error {
		events, err := reader.Read(b)
		for _, ev := range events {
			if ev.Seq > l.seq {
				f := ev.AttemptFinished
				l.give(&view.Entry{Event: ev, Dropped: f != nil && l.heard[f.Ticket]})
			}
		}
		return err
	})
	return err
}

func (l *lister) give(e *view.Entry) {
	l.seq = e.Event.Seq
	if l.started == 0 {
		l.started = e.Event.At
	}
	if f := e.Event.AttemptFinished; f != nil {
		l.heard[f.Ticket] = true
	}
	e.Run, e.Started = l.run, l.started
	l.each(e)
}

package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/view"
)

// past is a run that is replayed for looking at it: nobody drives it, and nothing of the store changes.
type past struct {
	*pinned
	store   *store
	run     string
	machine *machine.Machine
	fold    *engine.Fold
	view    *view.Run
	// attempts are those that have not answered.
	attempts *view.Attempts
}

// recall prepares the past of a run, from its definition; nothing of its journal has been replayed.
func (s *store) recall(ctx context.Context, run string) (*past, error) {
	p, err := s.pinned(ctx, run)
	if err != nil {
		return nil, err
	}
	m, err := s.known.Machine(p.header, p.definition)
	if err != nil {
		return nil, err
	}
	return &past{p, s, run, m.(*machine.Machine), engine.NewFold(p.header, m), view.New(p.workflow), view.NewAttempts()}, nil
}

// history is the past of a run, replayed as far as it goes now.
func (s *store) history(ctx context.Context, run string) (*past, error) {
	p, err := s.recall(ctx, run)
	if err == nil {
		err = p.replay(ctx, nil)
	}
	return p, err
}

// seen is one event of a past with what it caused.
type seen struct {
	event  event.Event
	caused *event.Reaction // valid during the call
	lines  []view.Line     // what the view made of both
}

// replay replays the journal as far as it goes now, into the view. each, if given, sees every event after the view has; where it
// returns false, the past ends there.
func (p *past) replay(ctx context.Context, each func(seen) bool) error {
	_, err := p.store.Batches(ctx, p.run, func(b journal.Batch) error { return p.batch(b, each) })
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// batch replays one batch. Without a listener it is folded as a whole. A machine that panics over it has diverged, too.
func (p *past) batch(b journal.Batch, each func(seen) bool) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: run %s: it fails in the batch of events %d to %d: %v", engine.ErrDiverged, p.run, b.First, b.Last(), r)
		}
	}()
	if each == nil {
		var out event.Reaction
		events, err := p.fold.Replay(b, &out)
		if err == nil {
			p.view.Apply(events, &out)
			p.attempts.Apply(events, &out)
		}
		return err
	}
	on := true
	err = p.fold.Trace(b, func(ev event.Event, out *event.Reaction) bool {
		p.attempts.Apply([]event.Event{ev}, out)
		on = each(seen{ev, out, p.view.Apply([]event.Event{ev}, out)})
		return on
	})
	if err == nil && !on {
		return errEnough
	}
	return err
}

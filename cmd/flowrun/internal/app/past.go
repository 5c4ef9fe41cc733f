package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/view"
)

// past is a run that is replayed for looking at it: nobody drives it, and nothing of the store changes.
type past struct {
	store    *store
	run      string
	program  *ir.Program
	workflow *ir.Workflow
	machine  *machine.Machine
	fold     *engine.Fold
	view     *view.Run
}

// recall prepares the past of a run, from its definition; nothing of its journal has been replayed.
func (s *store) recall(ctx context.Context, run string) (*past, error) {
	h, definition, w, err := s.pinned(ctx, run)
	if err != nil {
		return nil, err
	}
	known := new(definitions)
	m, err := known.machine(h, definition)
	if err != nil {
		return nil, err
	}
	p, err := known.load(definition)
	if err != nil {
		return nil, err
	}
	return &past{store: s, run: run, program: p, workflow: w, machine: m.(*machine.Machine), fold: engine.NewFold(h, m), view: view.New(w)}, nil
}

// seen is one event of a past with what it caused.
type seen struct {
	event  event.Event
	caused *event.Reaction // valid during the call
	lines  []view.Line     // what the view made of both
}

// errEnough ends a replay before its end.
var errEnough = errors.New("enough")

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
		}
		return err
	}
	on := true
	err = p.fold.Trace(b, func(ev event.Event, out *event.Reaction) bool {
		on = each(seen{ev, out, p.view.Apply([]event.Event{ev}, out)})
		return on
	})
	if err == nil && !on {
		return errEnough
	}
	return err
}

package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/view"
)

// pinned reads what a run was started with.
func (s *store) pinned(ctx context.Context, run string) (journal.Header, []byte, *ir.Workflow, error) {
	enough := errors.New("enough")
	h, definition, err := s.Journal(ctx, run, func(journal.Batch) error { return enough })
	if err != nil && !errors.Is(err, enough) {
		return h, nil, nil, err
	}
	p, err := s.known.load(definition)
	if err != nil {
		return h, nil, nil, fmt.Errorf("run %s: %w", run, err)
	}
	w := p.Workflow(h.Workflow)
	if w == nil {
		return h, nil, nil, fmt.Errorf("%w: run %s: its program has no workflow %q", journal.ErrBroken, run, h.Workflow)
	}
	return h, definition, w, nil
}

// begun reads what a run was given, and its program.
func (s *store) begun(ctx context.Context, run string) (first *event.RunStarted, p *ir.Program, err error) {
	enough := errors.New("enough")
	h, definition, err := s.Journal(ctx, run, func(b journal.Batch) error { return enough })
	if err != nil && !errors.Is(err, enough) {
		return nil, nil, err
	}
	_, _, err = s.Journal(ctx, run, func(b journal.Batch) error {
		events, err := journal.NewReader(h).Read(b)
		if err == nil && len(events) > 0 {
			first, err = events[0].RunStarted, enough
		}
		return err
	})
	if err != nil && !errors.Is(err, enough) {
		return nil, nil, err
	}
	if first == nil {
		return nil, nil, fmt.Errorf("%w: run %s has no beginning", journal.ErrBroken, run)
	}
	p, err = ir.Load(definition)
	return first, p, err
}

// history replays a run for looking at it.
func (s *store) history(ctx context.Context, run string) (*view.Run, error) {
	p, err := s.recall(ctx, run)
	if err == nil {
		err = p.replay(ctx, nil)
	}
	if err != nil {
		return nil, err
	}
	return p.view, nil
}

// bundle is what is kept of a program's source beside a run: for messages, never for running.
type bundle struct {
	Files map[string]string `json:"files"`
	Where map[string]string `json:"where"` // step to "ship.hcl:14"
}

func (b bundle) encode() []byte {
	text, err := json.Marshal(b)
	if err != nil {
		panic("app: a bundle that is not JSON: " + err.Error()) // strings by construction
	}
	return text
}

// where tells where a run's steps were declared. A source that is missing or unreadable only makes messages shorter.
func (s *store) where(ctx context.Context, run string) func(string) string {
	var b bundle
	if text, err := s.Source(ctx, run); err == nil {
		_ = json.Unmarshal(text, &b)
	}
	return func(step string) string { return b.Where[step] }
}

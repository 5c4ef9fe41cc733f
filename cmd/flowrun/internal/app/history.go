package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// pinned is what a run was started with: its journal's header, its definition, and where its journal begins.
type pinned struct {
	header     journal.Header
	definition []byte
	program    *runner.Program
	workflow   *ir.Workflow
	beginning  *journal.Batch // nil: none was stored
}

// errEnough ends the reading of a journal before its end.
var errEnough = errors.New("enough")

// pinned reads what a run was started with.
func (s *store) pinned(ctx context.Context, run string) (*pinned, error) {
	p := &pinned{}
	var err error
	p.header, p.definition, err = s.Journal(ctx, run, func(b journal.Batch) error {
		p.beginning = &b
		return errEnough
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	if p.program, err = s.known.Load(p.header.Definition, p.definition); err != nil {
		return nil, fmt.Errorf("run %s: %w", run, err)
	}
	if p.workflow = p.program.Workflow(p.header.Workflow); p.workflow == nil {
		return nil, fmt.Errorf("%w: run %s: its program has no workflow %q", journal.ErrBroken, run, p.header.Workflow)
	}
	return p, nil
}

// given is the run's first event: what it was given besides its program.
func (p *pinned) given() (*event.RunStarted, error) {
	if p.beginning != nil {
		events, err := journal.NewReader(p.header).Read(*p.beginning)
		if err != nil {
			return nil, err
		}
		if first := events[0].RunStarted; first != nil {
			return first, nil
		}
	}
	return nil, fmt.Errorf("%w: run %s has no beginning", journal.ErrBroken, p.header.Run)
}

// begun reads what a run was given, and its program.
func (s *store) begun(ctx context.Context, run string) (*event.RunStarted, *ir.Program, error) {
	p, err := s.pinned(ctx, run)
	if err != nil {
		return nil, nil, err
	}
	first, err := p.given()
	return first, p.program.Program, err
}

// bundle is what is kept of a program's source beside a run: for messages, never for running.
type bundle struct {
	Files map[string]string `json:"files"`
	Where map[string]string `json:"where"` // step to "ship.hcl:14"
	Path  string            `json:"path"`  // the file or folder, absolute
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
	b, _ := s.bundle(ctx, run)
	return func(step string) string { return b.Where[step] }
}

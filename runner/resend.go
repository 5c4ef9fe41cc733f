package runner

import (
	"context"
	"errors"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// Resend sends a message of a run that could not be sent, as it was, over a channel of the run's program. The run must have been
// resumed here, so that its secrets are known; see [Service.Resume].
func (s *Service) Resend(ctx context.Context, p *Pinned, channel string, m event.Message) error {
	first, err := p.First()
	if err != nil {
		return err
	}
	g, err := p.Program.Graph(p.Workflow.Name)
	if err != nil {
		return err
	}
	c := compose.New(g, expr.NewEvaluator(ir.RulesOf(p.Header.Behaviour), p.Program.Files), first)
	a, no := c.Notice(&compose.Notice{Path: m.Node, Message: m, To: []string{channel}})
	if no != nil {
		return errors.New(no.Message)
	}
	a.Notify.Message, a.Notify.Direct, a.Key = m, true, m.Key
	x := s.sessionOf(first.Run)
	if x == nil {
		return errNoSession
	}
	// Not by carryOut: the message belongs to no attempt that others could look at.
	if f := x.secrets.Execute(executor.WithWithheld(ctx, x.withheld), *a); f.Outcome != event.OK {
		return errors.New(f.Error.Message)
	}
	return nil
}

// ResendAlone is Resend for a run that may be unknown to this process: its secrets are looked for where the run got them, and the error is
// *NoSecrets if one of them is not there.
func (s *Service) ResendAlone(ctx context.Context, run, channel string, m event.Message) error {
	p, err := s.Pinned(ctx, run)
	if err != nil {
		return err
	}
	s.mu.Lock()
	known := s.trees[run] != nil
	s.mu.Unlock()
	t, err := s.enterTree(ctx, run, true)
	switch {
	case errors.Is(err, engine.ErrOwned): // it is driven here, and has a session
	case err != nil:
		return err
	default:
		if !known {
			s.endTree(t) // so that this process forgets the secrets
		}
		defer s.leaveDrive(t, run, true)
	}
	return s.Resend(ctx, p, channel, m)
}

package runner

import (
	"context"
	"errors"
	"maps"
	"strings"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/trace"
)

// Spans calls each with the spans of a run that has ended, from its journal. An error of each ends the reading and is returned. A run that
// has not ended gives only the spans of the attempts that have.
func (s *Service) Spans(ctx context.Context, run string, each func(*trace.Span) error) error {
	first, err := s.Started(ctx, run)
	if err != nil {
		return err
	}
	p, err := s.Past(ctx, run)
	if err != nil {
		return err
	}
	var failed error
	fold := trace.NewRun(s.originOf(ctx, first), func(span *trace.Span) {
		if failed == nil {
			failed = each(span)
		}
	})
	_, err = s.Batches(ctx, run, func(b journal.Batch) error {
		err := p.fold.Trace(b, func(ev event.Event, out *event.Reaction) bool {
			fold.Apply(&ev, out)
			return failed == nil
		})
		return errors.Join(err, failed)
	})
	return err
}

// originOf tells where a run stands among others.
func (s *Service) originOf(ctx context.Context, first event.RunStarted) trace.Origin {
	o := trace.Origin{Trace: s.traceOfTree(ctx, first)}
	if first.RetryOf != "" {
		o.Links = append(o.Links, trace.Link{Trace: s.traceOf(ctx, first.RetryOf), Span: trace.OfRun(first.RetryOf), Why: "retry_of"})
	}
	if first.CauseOf().Kind == event.CauseLoop && first.Parent != "" {
		o.Links = append(o.Links, trace.Link{Trace: s.traceOf(ctx, first.Parent), Span: trace.OfNode(first.Parent, first.ParentNode), Why: "loop"})
	}
	return o
}

// traceOfTree returns the id of the trace of a run: that of the first of its callers, which may itself have been started in a trace. The run
// of a loop lasts for months, so the run of an item has a trace of its own.
func (s *Service) traceOfTree(ctx context.Context, first event.RunStarted) trace.TraceID {
	for range maxCallers {
		if first.Parent == "" || first.CauseOf().Kind == event.CauseLoop {
			break
		}
		caller, err := s.Started(ctx, first.Parent)
		if err != nil { // it was removed
			return trace.OfTree(first.Parent)
		}
		first = caller
	}
	if id, _, given := trace.ReadParent(first.Traceparent); given {
		return id
	}
	return trace.OfTree(first.Run)
}

// maxCallers is more than the callers that a run can have, so that a damaged store ends the search for the first one.
const maxCallers = 1000

func (s *Service) traceOf(ctx context.Context, run string) trace.TraceID {
	first, err := s.Started(ctx, run)
	if err != nil {
		return trace.OfTree(run)
	}
	return s.traceOfTree(ctx, first)
}

// addParent tells the program or server of an attempt the id of the attempt's span, unless the file does.
func (s *Service) addParent(ctx context.Context, a *event.Attempt) {
	s.mu.Lock()
	id, known := s.traces[a.Run]
	s.mu.Unlock()
	if !known {
		first, err := s.Started(ctx, a.Run)
		if err != nil {
			return // the attempt has no parent to tell of
		}
		id = s.traceOfTree(ctx, first)
		s.mu.Lock()
		if len(s.traces) >= maxTraces || s.traces == nil {
			s.traces = map[string]trace.TraceID{}
		}
		s.traces[a.Run] = id
		s.mu.Unlock()
	}
	parent := trace.Parent(id, trace.Attempt(a.Run, a.Ticket))
	if _, given := a.Env[parentVariable]; !given {
		a.Env = maps.Clone(a.Env)
		if a.Env == nil {
			a.Env = map[string]string{}
		}
		a.Env[parentVariable] = parent
	}
	if a.HTTP == nil {
		return
	}
	h := *a.HTTP
	h.Headers = map[string]string{parentHeader: parent}
	for name, v := range a.HTTP.Headers {
		if strings.EqualFold(name, parentHeader) {
			return
		}
		h.Headers[name] = v
	}
	a.HTTP = &h
}

// maxTraces bounds the runs whose trace is remembered.
const maxTraces = 10_000

// The names of W3C's "Trace Context": of the header, and of the variable that OpenTelemetry gives programs.
const (
	parentHeader   = "traceparent"
	parentVariable = "TRACEPARENT"
)

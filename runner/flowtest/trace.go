package flowtest

import (
	"context"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// Trace is what a test did in virtual time, so that another host can do the same: which runs it started, and what their attempts were answered.
type Trace struct {
	*Result
	Starts []TracedStart
	// Runs are the ids of these runs, and of those that they called.
	Runs []string
	// Journal returns a run's header and definition, and calls each with each batch.
	Journal func(ctx context.Context, run string, each func(journal.Batch) error) (journal.Header, []byte, error)
	answers map[asked][]traced
}

// TracedStart is the start of a run, some time after that of the test.
type TracedStart struct {
	engine.Start
	After time.Duration
}

// asked names an attempt on any host. A node that is done again asks the same more than once, in the order of its tickets.
type asked struct {
	run, node, gate string
	attempt         int
	compensate      bool
}

func askedBy(a *event.Attempt) asked { return asked{a.Run, a.Node, a.Gate, a.Attempt, a.Compensate} }

type traced struct {
	ticket uint64
	answer event.AttemptFinished
	took   time.Duration
}

// Follow carries out a test without crashes. id goes into the ids of its runs: another host gives the same ones to those that they call.
func Follow(ctx context.Context, p *Program, spec *ir.Test, id string) *Trace {
	t := newTest(p, spec)
	t.id, t.trace = id, &Trace{answers: map[asked][]traced{}}
	if err := t.drive(ctx, 0); err != nil {
		t.fail(Failure{Kind: Broken, At: spec.At, Text: sentence(err), After: t.elapsed()})
	}
	t.trace.Result, t.trace.Journal = t.result(), t.host.Journal
	for _, s := range t.order {
		top := s
		for top.caller != "" {
			top = t.runs[top.caller]
		}
		if slices.Contains(t.launched, top) {
			t.trace.Runs = append(t.trace.Runs, s.id)
		}
	}
	return t.trace
}

// note notes what an attempt was answered.
func (t *Trace) note(a *event.Attempt, f event.AttemptFinished, took time.Duration) {
	k := askedBy(a)
	t.answers[k] = append(t.answers[k], traced{a.Ticket, f, took})
}

// Answer returns what an attempt was answered in the test, and after what time. n counts the earlier attempts of another ticket at the same. known is
// false if the test had no such attempt.
func (t *Trace) Answer(a *event.Attempt, n int) (f event.AttemptFinished, took time.Duration, known bool) {
	list := t.answers[askedBy(a)]
	if len(list) == 0 {
		return f, 0, false
	}
	x := list[min(n, len(list)-1)]
	return x.answer, x.took, true
}

// Same names what counts for n of [Trace.Answer].
func Same(a *event.Attempt) any { return askedBy(a) }

// Stored are the values that runs share when a test begins, by namespace and key.
func Stored(spec *ir.Test, each func(namespace, key string, v value.Value) error) error {
	for _, text := range value.Keys(spec.Store) {
		namespace, key := ir.SplitStoreKey(text)
		if err := each(namespace, key, spec.Store[text]); err != nil {
			return err
		}
	}
	return nil
}

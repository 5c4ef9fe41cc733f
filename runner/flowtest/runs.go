package flowtest

import (
	"context"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/secret"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/retry"
	"github.com/flowrun/flowrun/runner/view"
)

// runID is the id of a run with a label. A crash must not change it.
func (t *test) runID(label string) string {
	if label == "" {
		return t.id // "": the host gives the first id that chance has, always the same
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(t.Name + "\x00" + label + t.id))
	var id [8]byte
	binary.BigEndian.PutUint64(id[:], h.Sum64())
	return strings.ToLower(base32.StdEncoding.EncodeToString(id[:]))[:12]
}

// startRun starts a run.
func (t *test) startRun(ctx context.Context, r *ir.TestRun) error {
	w, secrets := t.program.Workflow(r.Workflow), t.sensitive(r.Workflow, r.Inputs)
	return t.launch(ctx, r, secrets, event.RunStarted{Workflow: r.Workflow, FirstMembers: true, Dir: "/", Inputs: open(w.Inputs, r.Inputs),
		Vars: open(t.program.Variables, t.Vars), Secrets: seals(secrets)})
}

// launch makes a run and lets the host drive it.
func (t *test) launch(ctx context.Context, r *ir.TestRun, secrets map[string]value.Value, first event.RunStarted) error {
	s := engine.Start{Header: journal.Header{Run: t.runID(r.Label), Behaviour: ir.Behaviour, Definition: t.program.hash, Workflow: r.Workflow},
		Definition: t.program.definition, First: first}
	id, err := t.host.Start(ctx, s)
	if err != nil {
		return err
	}
	if t.trace != nil {
		t.trace.Starts = append(t.trace.Starts, TracedStart{s, t.elapsed()})
	}
	first.Run = id
	run := t.newSeen(&first, "", r.Label)
	run.first, run.secrets = &first, secrets
	t.order = append(t.order, run)
	t.runs[id] = run
	t.launched = append(t.launched, run)
	t.labels[r.Label] = run
	x := secret.New(executor.Func(t.answer), nil)
	x.Hold(secrets, t.program.eval)
	t.secrets[id] = x
	t.host.Add(id)
	return nil
}

// retryRun starts a run that repeats another one.
func (t *test) retryRun(ctx context.Context, m *ir.Moment, of *seen) error {
	refuse := func(why string) {
		t.fail(Failure{Kind: Broken, At: m.At, Text: fmt.Sprintf("%s cannot be repeated: %s", of.words(), why), After: m.After})
	}
	if !of.view.Status.Terminal() {
		refuse("it has not ended")
		return nil
	}
	past, err := t.pastOf(ctx, of)
	if err != nil {
		return err
	}
	g, err := t.program.graph(of.workflow)
	if err != nil {
		return err
	}
	kept, err := retry.Of(g, of.first, past, wishOf(m))
	if no := (*retry.Refusal)(nil); errors.As(err, &no) {
		refuse(strings.ReplaceAll(no.Message, "run "+of.id, "it"))
		return nil
	} else if err != nil {
		return err
	}
	first := *of.first
	first.Run, first.Skip, first.Cancelled = "", "", ""
	first.Cause = event.RetryCause(of.id, of.first)
	first.RetryOf, first.Reused, first.Targets = of.id, kept.Reused, kept.Targets
	return t.launch(ctx, m.Run, of.secrets, first)
}

// wishOf is what a moment asks of a run that repeats another one.
func wishOf(m *ir.Moment) retry.Wish {
	w := retry.Wish{From: m.From, By: m.By}
	for _, path := range value.Keys(m.Set) {
		w.Set = append(w.Set, retry.Set{Step: path, Output: m.Set[path]})
	}
	return w
}

// pastOf is the view of a run that has ended, in which a repeat is one piece.
func (t *test) pastOf(ctx context.Context, of *seen) (*view.Run, error) {
	v := view.New(t.program.Workflow(of.workflow))
	v.Forget()
	var batches []journal.Batch
	h, definition, err := t.host.Journal(ctx, of.id, func(b journal.Batch) error {
		batches = append(batches, b)
		return nil
	})
	if err != nil {
		return nil, err
	}
	m, err := t.newMachine(h.Workflow)
	if err != nil {
		return nil, fmt.Errorf("%d bytes of a definition: %w", len(definition), err)
	}
	fold := engine.NewFold(h, m)
	for _, b := range batches {
		var r event.Reaction
		events, err := fold.Replay(b, &r)
		if err != nil {
			return nil, err
		}
		v.Apply(slices.Clone(events), &r)
	}
	return v, nil
}

// group is the group of a run, as the workflow's block concurrency says.
func (t *test) group(_ []byte, first event.RunStarted) (engine.Group, error) {
	w := t.program.Workflow(first.Workflow)
	if w == nil { // a loop
		return engine.Group{}, nil
	}
	if w.Concurrency == nil {
		if c := first.CauseOf(); c.Kind == event.CauseRoutine {
			name, busy := compose.RoutineGroup(t.program.Routine(c.Name))
			return engine.Group{Name: name, WhenBusy: engine.WhenBusy(busy)}, nil
		}
		return engine.Group{}, nil
	}
	g, err := t.program.graph(first.Workflow)
	if err != nil {
		return engine.Group{}, err
	}
	name, err := compose.New(g, t.program.eval, &first).GroupName()
	if err != nil {
		return engine.Group{}, fmt.Errorf("the concurrency group of workflow %q: %w", w.Name, err)
	}
	return engine.Group{Name: name, WhenBusy: engine.WhenBusy(w.Concurrency.WhenBusy)}, nil
}

// secretsOf completes the attempts of a run: with the secrets of the run of the test that it is, or that called it.
func (t *test) secretsOf(run string) *secret.Executor {
	s := t.runs[run]
	for s != nil && s.caller != "" {
		s = t.runs[s.caller]
	}
	return t.secrets[s.id]
}

// endCalls ends the attempts of a run and of those that it called, whose driver has died; of all runs for nil.
func (t *test) endCalls(of *seen) {
	for name, c := range t.live { // any order: each for itself
		if of == nil || t.runs[name.run].top(t.record) == of {
			t.record.end(name, c, t.store.Now())
		}
	}
}

// nameRuns puts the labels of runs in the place of their ids.
func (t *test) nameRuns(lines []Line) {
	var pairs []string
	for _, s := range t.launched {
		if s.label != "" {
			pairs = append(pairs, "run "+s.id, "run "+s.label)
		}
	}
	if pairs == nil {
		return
	}
	names := strings.NewReplacer(pairs...)
	for i := range lines {
		if strings.Contains(lines[i].Text, "run ") {
			lines[i].Text = names.Replace(lines[i].Text)
		}
	}
}

// status is how the test's runs ended in a word: the status of the first one that did not succeed.
func (t *test) status() event.Status {
	status := event.Pending
	for _, s := range t.launched {
		if status = s.view.Status; status != event.Succeeded {
			break
		}
	}
	return status
}

// runsAtEnd are the runs that the test started; nil if there is only the one without a label.
func (t *test) runsAtEnd() (out []RunEnd) {
	if len(t.launched) < 2 && t.Workflow != "" || len(t.Loops) > 0 {
		return nil
	}
	for _, s := range t.launched {
		r := RunEnd{Label: s.label, Workflow: s.workflow, Status: s.view.Status, Started: -1, Ended: -1}
		if at := s.view.StartedAt; at != 0 {
			r.Started = at.Sub(t.start)
		}
		if at := s.view.FinishedAt; at != 0 {
			r.Ended = at.Sub(t.start)
		}
		out = append(out, r)
	}
	return out
}

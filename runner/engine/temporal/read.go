package temporal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/worker"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// queryTimeout is how long a worker may take to answer before the journal is read from the history.
const queryTimeout = 3 * time.Second

// Drive follows a run to its end: workers drive it. When ctx is done, the run goes on without the follower.
func (h *Host) Drive(ctx context.Context, run string, w engine.Watcher) (event.End, error) {
	f, err := h.follow(ctx, run, w)
	if err != nil {
		return event.End{}, err
	}
	for {
		if err := h.advance(ctx, f); err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return event.End{}, err
		}
		if end := f.fold.End(); end != nil {
			return *end, nil
		}
		select {
		case <-ctx.Done():
			return event.End{}, context.Cause(ctx)
		case <-time.After(h.options.Poll):
		}
	}
}

// follower is a view of a run that grows with it.
type follower struct {
	run      string
	fold     *engine.Fold
	watch    engine.Watcher
	ended    bool // when it was followed first
	replayed bool
}

func (h *Host) follow(ctx context.Context, run string, w engine.Watcher) (*follower, error) {
	start, ended, err := h.begun(ctx, run)
	if err != nil {
		return nil, err
	}
	m, err := h.options.Machines.Machine(start.Header, []byte(start.Definition))
	if err != nil {
		return nil, err
	}
	return &follower{run: run, fold: engine.NewFold(start.Header, m), watch: w, ended: ended, replayed: ended}, nil
}

// take replays a batch that is new.
func (f *follower) take(b journal.Batch) error {
	if b.First <= f.fold.Seq() {
		return nil
	}
	var out event.Reaction
	events, err := f.fold.Replay(b, &out)
	if err == nil && f.watch != nil {
		f.watch(events, &out, f.replayed)
	}
	return err
}

// advance takes what is new: a worker is asked, and if none answers, or the batches are those of an earlier execution, the history is read.
func (h *Host) advance(ctx context.Context, f *follower) error {
	for !f.ended {
		p, err := h.ask(ctx, f.run, f.fold.Seq())
		if err != nil || p.Begins > f.fold.Seq()+1 {
			break
		}
		for _, b := range p.Batches {
			if err := f.take(b.Journal()); err != nil {
				return err
			}
		}
		if !p.More {
			return nil
		}
	}
	return h.After(ctx, f.run, f.fold.Seq(), f.take)
}

// ask asks a worker for batches.
func (h *Host) ask(ctx context.Context, run string, after uint64) (p wire.Page, err error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	v, err := h.client.QueryWorkflow(ctx, run, "", wire.Batches, after)
	var b []byte
	if err == nil {
		err = v.Get(&b)
	}
	if err == nil {
		err = wire.Decode(b, &p)
	}
	return p, err
}

// begun returns how a run began.
func (h *Host) begun(ctx context.Context, run string) (start *wire.Start, ended bool, err error) {
	d, err := h.describe(ctx, run)
	if err != nil {
		return nil, false, err
	}
	info := d.GetWorkflowExecutionInfo()
	list := h.client.GetWorkflowHistory(ctx, run, firstOf(info.GetFirstRunId(), info.GetExecution().GetRunId()), false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	if !list.HasNext() {
		return nil, false, fmt.Errorf("%w: %s has no history", engine.ErrNoRun, run)
	}
	e, err := list.Next()
	if err != nil {
		return nil, false, err
	}
	start, err = startOf(e)
	return start, info.GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING, err
}

func firstOf(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// startOf reads the argument of an execution.
func startOf(e *history.HistoryEvent) (*wire.Start, error) {
	var b []byte
	if err := converter.GetDefaultDataConverter().FromPayloads(e.GetWorkflowExecutionStartedEventAttributes().GetInput(), &b); err != nil {
		return nil, err
	}
	var s wire.Start
	return &s, wire.Decode(b, &s)
}

// histories calls each with the history of each execution of a run, in order.
func (h *Host) histories(ctx context.Context, run string, each func(*history.History) error) error {
	d, err := h.describe(ctx, run)
	if err != nil {
		return err
	}
	info := d.GetWorkflowExecutionInfo()
	for id := firstOf(info.GetFirstRunId(), info.GetExecution().GetRunId()); id != ""; {
		list := h.client.GetWorkflowHistory(ctx, run, id, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		all := &history.History{}
		for list.HasNext() {
			e, err := list.Next()
			if err != nil {
				return err
			}
			all.Events = append(all.Events, e)
		}
		if len(all.Events) == 0 {
			return fmt.Errorf("%w: %s has no history", engine.ErrNoRun, run)
		}
		if err := each(all); err != nil {
			return err
		}
		id = all.Events[len(all.Events)-1].GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
	}
	return nil
}

// After calls each with the batches behind an event, which must be the last of a batch, or 0.
func (h *Host) After(ctx context.Context, run string, seq uint64, each func(journal.Batch) error) error {
	return h.histories(ctx, run, func(all *history.History) error {
		batches, err := h.replay(all)
		if err != nil {
			return fmt.Errorf("run %s: %w", run, err)
		}
		for _, b := range batches {
			if b.First > seq {
				if err := each(b); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Replay runs the workflow of an execution again over its history, without a server, and returns the batches that it makes. The error wraps
// [engine.ErrDiverged] if this release asks the server for other things than the history has.
func Replay(o Options, all *history.History) ([]journal.Batch, error) {
	return (&Host{options: o}).replay(all)
}

// replay runs the workflow again over the history of an execution, and returns the batches that it makes.
func (h *Host) replay(all *history.History) (batches []journal.Batch, err error) {
	r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{})
	if err != nil {
		return nil, err
	}
	durable := event.Time(0) // what a task of the workflow makes is durable once the task is completed
	started := map[int64]event.Time{}
	for _, e := range all.Events {
		switch e.GetEventType() {
		case enums.EVENT_TYPE_WORKFLOW_TASK_STARTED:
			started[e.GetEventId()] = event.At(e.GetEventTime().AsTime())
		case enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
			durable = started[e.GetWorkflowTaskCompletedEventAttributes().GetStartedEventId()]
		}
	}
	if durable == 0 {
		return nil, nil
	}
	h.register(r, func(b journal.Batch, at event.Time) {
		if at <= durable {
			batches = append(batches, b)
		}
	})
	if err := r.ReplayWorkflowHistory(quiet, all); err != nil {
		return nil, errors.Join(engine.ErrDiverged, err)
	}
	return batches, nil
}

// Journal returns a run's header and definition, and calls each with each batch.
func (h *Host) Journal(ctx context.Context, run string, each func(journal.Batch) error) (journal.Header, []byte, error) {
	start, _, err := h.begun(ctx, run)
	if err != nil {
		return journal.Header{}, nil, err
	}
	return start.Header, []byte(start.Definition), h.After(ctx, run, 0, each)
}

package temporal

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/worker"

	"github.com/flowrun/flowrun/runner/durations"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal/run"
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
	for heard := time.Now(); ; {
		err := h.advance(ctx, f)
		if errors.Is(err, journal.ErrBroken) && f.shown == 0 {
			f, err = h.followAgain(ctx, f)
		}
		if err == nil {
			heard = time.Now()
		}
		if err != nil && !(ctx.Err() == nil && isAway(err) && time.Since(heard) < patience) {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return event.End{}, err
		}
		if end := f.fold.End(); end != nil && err == nil {
			if !f.ended {
				h.awaitClose(ctx, run)
			}
			return *end, nil
		}
		select {
		case <-ctx.Done():
			return event.End{}, context.Cause(ctx)
		case <-time.After(h.options.Poll):
		}
	}
}

// patience is how long a follower goes on without an answer of the server.
const patience = time.Minute

// isAway reports whether an error says that the server does not answer now.
func isAway(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, new(*serviceerror.DeadlineExceeded)) || errors.As(err, new(*serviceerror.Unavailable)) ||
		errors.As(err, new(*serviceerror.ResourceExhausted)) || errors.As(err, new(*serviceerror.NamespaceNotFound))
}

// follower is a view of a run that grows with it.
type follower struct {
	run      string
	fold     *engine.Fold
	watch    engine.Watcher
	ended    bool // when it was followed first
	replayed bool
	shown    uint64 // the number of the last event that another view has shown
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

// followAgain makes another view of a run, of what its history holds. A worker may have answered a question in the middle of a decision that it made too
// late for the server, so that another decision stands in its place.
func (h *Host) followAgain(ctx context.Context, f *follower) (*follower, error) {
	again, err := h.follow(ctx, f.run, f.watch)
	if err != nil {
		return nil, err
	}
	again.ended, again.replayed, again.shown = f.ended, f.replayed, f.fold.Seq()
	h.silent(f.run)
	return again, h.replayAfter(ctx, f.run, 0, again.take)
}

// take replays a batch that is new.
func (f *follower) take(b journal.Batch) error {
	if b.First <= f.fold.Seq() {
		return nil
	}
	var out event.Reaction
	events, err := f.fold.Replay(b, &out)
	if err == nil && f.watch != nil && b.Last() > f.shown {
		f.watch(events, &out, f.replayed)
	}
	return err
}

// advance takes what is new. A run that has ended is not asked: its history is there.
func (h *Host) advance(ctx context.Context, f *follower) error {
	if f.ended {
		return h.replayAfter(ctx, f.run, f.fold.Seq(), f.take)
	}
	return h.newsAfter(ctx, f.run, f.fold.Seq(), f.take)
}

// newsAfter asks a worker for the batches of a run that goes on. If none answers, or the batches are those of an earlier execution, the
// history is read.
func (h *Host) newsAfter(ctx context.Context, run string, seq uint64, each func(journal.Batch) error) error {
	for h.mayAsk(run) {
		p, err := h.ask(ctx, run, seq)
		if err != nil {
			h.silent(run)
			break
		}
		if p.Begins > seq+1 {
			break
		}
		for _, b := range p.Batches {
			j := h.bind(run, b.Journal())
			if j.First <= seq {
				continue
			}
			if err := each(j); err != nil {
				return err
			}
			seq = j.Last()
		}
		if !p.More {
			return nil
		}
	}
	return h.replayAfter(ctx, run, seq, each)
}

// silence is how long a run whose workers did not answer is not asked again: its history is read meanwhile.
const silence = 10 * time.Second

func (h *Host) mayAsk(run string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Since(h.silence[run]) > silence
}

func (h *Host) silent(run string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.silence == nil || len(h.silence) > 1000 {
		h.silence = map[string]time.Time{}
	}
	h.silence[run] = time.Now()
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
	start, err = h.startOf(e)
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
func (h *Host) startOf(e *history.HistoryEvent) (*wire.Start, error) {
	var b []byte
	if err := h.converter().FromPayloads(e.GetWorkflowExecutionStartedEventAttributes().GetInput(), &b); err != nil {
		return nil, err
	}
	var s wire.Start
	return &s, wire.Decode(b, &s)
}

// execution is the history of one execution of a run, replayed.
type execution struct {
	batches []journal.Batch
	length  int64  // of its history, in events
	next    string // the execution that continues it; "" if there is none
	ended   bool
}

// maxKept bounds the bytes of replayed executions that are kept.
const maxKept = 64 << 20

// replayed replays an execution, unless it was replayed before and has not changed. length is that of its history, 0 if it is not known;
// earlier are the batches of the executions before.
func (h *Host) replayed(ctx context.Context, run, id string, length int64, earlier []journal.Batch) (*execution, error) {
	h.mu.Lock()
	x := h.kept[id]
	h.mu.Unlock()
	if x != nil && (x.ended || x.length == length) {
		return x, nil
	}
	list := h.client.GetWorkflowHistory(ctx, run, id, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	all := &history.History{}
	for list.HasNext() {
		e, err := list.Next()
		if err != nil {
			return nil, err
		}
		all.Events = append(all.Events, e)
	}
	if len(all.Events) == 0 {
		return nil, fmt.Errorf("%w: %s has no history", engine.ErrNoRun, run)
	}
	batches, err := h.replay(all, earlier)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", run, err)
	}
	last := all.Events[len(all.Events)-1]
	for i := range batches {
		batches[i] = h.bind(run, batches[i])
	}
	x = &execution{batches: batches, length: last.GetEventId(), next: last.GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId(), ended: isEnd(last)}
	bytes := 0
	for _, b := range batches {
		bytes += len(b.Body)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.keptBytes += bytes; h.kept == nil || h.keptBytes > maxKept {
		h.kept, h.keptBytes = map[string]*execution{}, bytes
	}
	h.kept[id] = x
	return x, nil
}

// isEnd reports whether no event follows an event.
func isEnd(e *history.HistoryEvent) bool {
	switch e.GetEventType() {
	case enums.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED, enums.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED, enums.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT,
		enums.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED, enums.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED, enums.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW:
		return true
	}
	return false
}

// After calls each with the batches behind an event, which must be the last of a batch, or 0.
func (h *Host) After(ctx context.Context, run string, seq uint64, each func(journal.Batch) error) error {
	d, err := h.describe(ctx, run)
	if err != nil {
		return err
	}
	if d.GetWorkflowExecutionInfo().GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return h.newsAfter(ctx, run, seq, each)
	}
	return h.replayAfter(ctx, run, seq, each)
}

// replayAfter is After by the histories of the executions, which needs no worker.
func (h *Host) replayAfter(ctx context.Context, run string, seq uint64, each func(journal.Batch) error) error {
	d, err := h.describe(ctx, run)
	if err != nil {
		return err
	}
	info := d.GetWorkflowExecutionInfo()
	newest := info.GetExecution().GetRunId()
	var earlier []journal.Batch
	for id := firstOf(info.GetFirstRunId(), newest); id != ""; {
		length := int64(0)
		if id == newest {
			length = info.GetHistoryLength()
		}
		x, err := h.replayed(ctx, run, id, length, earlier)
		if err != nil {
			return err
		}
		earlier = append(earlier, x.batches...)
		for _, b := range x.batches {
			if b.First > seq {
				if err := each(b); err != nil {
					return err
				}
			}
		}
		id = x.next
	}
	return nil
}

// replay runs the workflow again over the history of an execution, and returns the batches that it makes. earlier are those of the executions
// before.
func (h *Host) replay(all *history.History, earlier []journal.Batch) (batches []journal.Batch, err error) {
	r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DataConverter: h.options.Reader, DisableDeadlockDetection: true}) // a reader may take its time
	if err != nil {
		return nil, err
	}
	if all = decided(all); len(all.Events) == 0 {
		return nil, nil
	}
	h.register(r, &run.Host{
		Record:  func(b journal.Batch, _ event.Time) { batches = append(batches, b) },
		Earlier: func(string, string, string) ([]journal.Batch, error) { return earlier, nil },
	})
	h.unshared.Store(false)
	if err := r.ReplayWorkflowHistory(quiet, all); err != nil {
		if h.unshared.Load() {
			return nil, errUnshared
		}
		if d := diverged(all, batches); d != nil {
			return nil, fmt.Errorf("%w (%w)", d, err)
		}
		return nil, errors.Join(engine.ErrDiverged, err)
	}
	return batches, nil
}

// decided is the part of a history that ends with the last decision and what it asked for: what came later is not durable as a part of the journal. The
// SDK would replay that, too, as if it had happened at the time of the last decision.
func decided(all *history.History) *history.History {
	n := 0
	for i, e := range all.GetEvents() {
		switch e.GetEventType() {
		case enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
			n = i + 1
		case enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, enums.EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED, enums.EVENT_TYPE_TIMER_STARTED, enums.EVENT_TYPE_TIMER_CANCELED,
			enums.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED, enums.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED,
			enums.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED, enums.EVENT_TYPE_MARKER_RECORDED, enums.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES,
			enums.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED, enums.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED, enums.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW:
			if n == i { // nothing came in between
				n = i + 1
			}
		}
	}
	return &history.History{Events: all.GetEvents()[:n]}
}

// diverged says where a history is another one than that of the batches that this release has made of it, by the first id of an activity that none of
// them gives; nil: it has none. The history has the upper halves of digests.
func diverged(all *history.History, made []journal.Batch) *engine.Diverged {
	const half = 32
	have := map[uint32]bool{}
	for _, b := range made {
		have[uint32(b.Digest>>half)] = true
	}
	for _, e := range all.GetEvents() {
		_, tag, _ := strings.Cut(e.GetActivityTaskScheduledEventAttributes().GetActivityId(), ".")
		tag, _, _ = strings.Cut(tag, ".")
		want, err := strconv.ParseUint(tag, 16, 32)
		if err != nil || have[uint32(want)] || len(made) == 0 {
			continue
		}
		last := made[len(made)-1]
		id := all.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes().GetWorkflowId()
		return &engine.Diverged{Run: id, Event: last.Last(), Want: want << half, Have: last.Digest >> half << half}
	}
	return nil
}

// Journal returns a run's header and definition, and calls each with each batch.
func (h *Host) Journal(ctx context.Context, run string, each func(journal.Batch) error) (journal.Header, []byte, error) {
	start, _, err := h.begun(ctx, run)
	if err != nil {
		return journal.Header{}, nil, err
	}
	return start.Header, []byte(start.Definition), h.After(ctx, run, 0, each)
}

// Batches is Journal without the definition.
func (h *Host) Batches(ctx context.Context, run string, each func(journal.Batch) error) (journal.Header, error) {
	header, _, err := h.Journal(ctx, run, each)
	return header, err
}

// Started returns the first event of a run.
func (h *Host) Started(ctx context.Context, run string) (event.RunStarted, error) {
	start, _, err := h.begun(ctx, run)
	if err != nil {
		return event.RunStarted{}, err
	}
	return start.First, nil
}

// Source returns the text that the run was started from, nil where none was kept.
func (h *Host) Source(ctx context.Context, run string) ([]byte, error) {
	start, _, err := h.begun(ctx, run)
	if err != nil || len(start.Source) == 0 {
		return nil, err
	}
	return wire.Expand(start.Source)
}

// Inbox is empty: the server hands a message to the run as soon as a worker drives it.
func (h *Host) Inbox(context.Context, string) ([]event.External, error) { return nil, nil }

// Expected is empty: a server keeps no durations of nodes.
func (h *Host) Expected(context.Context, string) (durations.Expected, int, error) {
	return durations.Expected{}, 0, nil
}

// Used is empty: a server keeps no usage of agents.
func (h *Host) Used() (map[string]event.Bounds, error) { return nil, nil }

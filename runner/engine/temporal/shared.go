package temporal

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal/share"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/engine/temporal/work"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

// askTimeout is how long one update may take before it is sent again.
const askTimeout = 20 * time.Second

// asker asks the workflow that keeps what runs share. The requests that come up while an update is on its way go together with the next one.
type asker struct {
	host *Host

	mu    sync.Mutex
	queue []*asked
	busy  bool
}

// asked is a request that waits for its reply.
type asked struct {
	wire.Request
	ctx   context.Context
	reply wire.Reply
	err   error
	done  chan struct{}
}

// Ask implements work.Asker.
func (a *asker) Ask(ctx context.Context, requests ...wire.Request) ([]wire.Reply, error) {
	list := make([]*asked, len(requests))
	a.mu.Lock()
	for i, r := range requests {
		list[i] = &asked{Request: r, ctx: ctx, done: make(chan struct{})}
	}
	a.queue = append(a.queue, list...)
	if !a.busy {
		a.busy = true
		go a.work()
	}
	a.mu.Unlock()
	replies := make([]wire.Reply, len(list))
	for i, x := range list {
		<-x.done
		if x.err != nil {
			return nil, x.err
		}
		replies[i] = x.reply
	}
	return replies, nil
}

// work sends requests until none are left.
func (a *asker) work() {
	for {
		a.mu.Lock()
		n := min(len(a.queue), wire.MaxRequests)
		batch := a.queue[:n:n]
		if a.queue = a.queue[n:]; n == 0 {
			a.busy = false
			a.mu.Unlock()
			return
		}
		a.mu.Unlock()
		again := a.send(batch)
		a.mu.Lock()
		a.queue = append(again, a.queue...)
		a.mu.Unlock()
	}
}

// send sends requests in one update, or in several if they are large. It returns those that are asked again.
func (a *asker) send(batch []*asked) (again []*asked) {
	var asking wire.Asking
	var live []*asked
	for _, x := range batch {
		if x.ctx.Err() != nil {
			x.end(wire.Reply{}, context.Cause(x.ctx))
			continue
		}
		asking.Requests = append(asking.Requests, x.Request)
		live = append(live, x)
	}
	if len(live) == 0 {
		return nil
	}
	arg, err := wire.Encode(&asking)
	if err == nil && len(arg) > wire.MaxPayload {
		if len(live) > 1 {
			return append(a.send(live[:len(live)/2]), a.send(live[len(live)/2:])...)
		}
		err = fmt.Errorf("the request has %d bytes, and the server takes %d", len(arg), wire.MaxPayload)
	}
	if err != nil {
		for _, x := range live {
			x.end(wire.Reply{}, err)
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	stop := context.AfterFunc(live[0].ctx, func() { // one that asks alone need not wait
		if len(live) == 1 {
			cancel()
		}
	})
	defer stop()
	told, err := a.host.update(ctx, &asking, arg)
	if err != nil {
		if fatal := new(serviceerror.PermissionDenied); errors.As(err, &fatal) || isRefused(err) {
			for _, x := range live {
				x.end(wire.Reply{}, err)
			}
			return nil
		}
		time.Sleep(50 * time.Millisecond)
		return live
	}
	for i, x := range live {
		if i >= len(told.Replies) || told.Replies[i].Again {
			again = append(again, x)
		} else {
			x.end(told.Replies[i], nil)
		}
	}
	return again
}

// isRefused reports whether the workflow has refused an update: this release and that of its worker do not fit.
func isRefused(err error) bool {
	return errors.As(err, new(*temporal.ApplicationError))
}

func (x *asked) end(r wire.Reply, err error) {
	x.reply, x.err = r, err
	close(x.done)
}

// update sends requests to the workflow, and begins it if it is not there.
func (h *Host) update(ctx context.Context, asking *wire.Asking, arg []byte) (*wire.Told, error) {
	sum := sha256.New()
	for _, r := range asking.Requests {
		if r.ID == "" { // each time is another one
			r.ID = engine.NewID()
		}
		fmt.Fprintln(sum, r.ID)
	}
	id := wire.ShareID(h.options.Store)
	o := client.UpdateWorkflowOptions{WorkflowID: id, UpdateID: hex.EncodeToString(sum.Sum(nil)[:16]), UpdateName: wire.Update, Args: []any{arg},
		WaitForStage: client.WorkflowUpdateStageCompleted}
	handle, err := h.client.UpdateWorkflow(ctx, o)
	if isNotFound(err) {
		var begin []byte
		first := wire.Shared{Store: h.options.Store, Rules: share.Rules, Large: h.options.Large}
		if d, err := h.client.DescribeWorkflowExecution(ctx, id, ""); err == nil && d.GetWorkflowExecutionInfo().GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
			first.Anew = event.At(time.Now()) // somebody has ended it
		}
		if begin, err = wire.Encode(&first); err != nil {
			return nil, err
		}
		handle, err = h.client.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{UpdateOptions: o,
			StartWorkflowOperation: h.client.NewWithStartWorkflowOperation(client.StartWorkflowOptions{ID: id, TaskQueue: wire.ShareQueue(h.options.Store),
				WorkflowTaskTimeout:      cmp.Or(h.options.Task, 10*time.Second),
				WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING}, wire.Share, begin)})
	}
	if err != nil {
		return nil, err
	}
	var b []byte
	var told wire.Told
	if err = handle.Get(ctx, &b); err == nil {
		err = wire.Decode(b, &told)
	}
	return &told, err
}

// Look implements work.Asker.
func (a *asker) Look(ctx context.Context, r wire.Request) (reply wire.Reply, found bool, err error) {
	arg, err := wire.Encode(&r)
	if err != nil {
		return reply, false, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	v, err := a.host.client.QueryWorkflow(ctx, wire.ShareID(a.host.options.Store), "", wire.Look, arg)
	for errors.As(err, new(*serviceerror.Canceled)) && ctx.Err() == nil { // the worker that was asked has died
		time.Sleep(50 * time.Millisecond)
		v, err = a.host.client.QueryWorkflow(ctx, wire.ShareID(a.host.options.Store), "", wire.Look, arg)
	}
	if isNotFound(err) {
		return reply, false, nil
	}
	var b []byte
	if err == nil {
		err = v.Get(&b)
	}
	if err == nil {
		err = wire.Decode(b, &reply)
	}
	return reply, true, err
}

// errand is the activity of a run that asks for what runs share.
func (a *asker) errand(ctx context.Context, arg []byte) ([]byte, error) {
	var asking wire.Asking
	if err := wire.Decode(arg, &asking); err != nil {
		return nil, err
	}
	ctx, cancel := beat(ctx)
	defer cancel()
	if list := asking.Requests; len(list) == 1 && list[0].Quiet {
		reply, found, err := a.Look(ctx, wire.Request{Subscribed: shared.RunEnded})
		if err == nil && !(found && reply.Yes) {
			return wire.Encode(&wire.Told{Replies: []wire.Reply{{}}})
		}
	}
	replies, err := a.Ask(ctx, asking.Requests...)
	if err != nil {
		return nil, err
	}
	return wire.Encode(&wire.Told{Replies: replies})
}

// beat lets the server hear that the worker of an activity lives, until the activity ends, and how far it is.
func beat(ctx context.Context, reached ...func() any) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		beat := time.NewTicker(work.Beat)
		defer beat.Stop()
		for {
			select {
			case <-beat.C:
				var details []any
				for _, get := range reached {
					details = append(details, get())
				}
				activity.RecordHeartbeat(ctx, details...)
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, cancel
}

// launch is the activity that starts runs which are to start by themselves.
func (h *Host) launch(ctx context.Context, loops bool) error {
	if h.options.Launch == nil {
		return errors.New("this worker starts no runs by itself")
	}
	ctx, cancel := beat(ctx)
	defer cancel()
	return h.options.Launch(ctx, loops)
}

// endOf is the activity that tells the end of a run that has ended.
func (h *Host) endOf(ctx context.Context, run string) ([]byte, error) {
	var b []byte
	var end event.End
	err := h.client.GetWorkflow(ctx, run, "").Get(ctx, &b)
	if err == nil {
		err = wire.Decode(b, &end)
	}
	if ended := new(temporal.WorkflowExecutionError); errors.As(err, &ended) { // on the server, by an operator
		end = event.End{Status: event.FailedS, Error: &event.Error{Kind: event.Fatal, Reason: event.ReasonLost, ExitCode: -1, Message: ended.Error()}}
	} else if err != nil {
		return nil, err
	}
	return wire.Encode(engine.Finished(event.StartChild{Run: run}, end))
}

// ended is the activity that tells which of some runs are not there, or have ended.
func (h *Host) ended(ctx context.Context, runs []string) ([]string, error) {
	ended := []string{}
	for _, run := range runs {
		d, err := h.client.DescribeWorkflowExecution(ctx, run, "")
		if err != nil && !isNotFound(err) {
			return nil, err
		}
		if err != nil || d.GetWorkflowExecutionInfo().GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
			ended = append(ended, run)
		}
	}
	return ended, nil
}

// Ask carries out one operation on what runs share, for a person or an executor: values, events, sync points, questions to people and the
// decisions about them, messages, dead letters, and whatever else [event.StoreRequest] names. A worker must serve the queue: the answer comes from
// the workflow that keeps what runs share. The error is *shared.Refusal if the operation is not possible.
func (h *Host) Ask(ctx context.Context, r event.StoreRequest) (value.Value, error) {
	if !shared.Changes(&r) && r.KV == nil { // the time of a query stands still, and values expire
		reply, found, err := h.asker.Look(ctx, wire.Request{Ask: &r})
		if err == nil && !found {
			a, err := shared.Apply(new(shared.Map), &r, shared.Waiter{}, event.At(time.Now()))
			return a.Output, err
		}
		return reply.Value, refusalOf(reply, err)
	}
	reply, err := h.askOnce(ctx, wire.Request{Ask: &r})
	return reply.Value, err
}

// askOnce carries out a request that is not of a run.
func (h *Host) askOnce(ctx context.Context, r wire.Request) (wire.Reply, error) {
	r.ID = engine.NewID()
	ctx, cancel := context.WithTimeout(ctx, personTimeout)
	defer cancel()
	replies, err := h.asker.Ask(ctx, r)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = h.explainSilence(err)
		}
		return wire.Reply{}, err
	}
	return replies[0], refusalOf(replies[0], nil)
}

// explainSilence says why the shared state does not answer.
func (h *Host) explainSilence(err error) error {
	ctx, cancel := context.WithTimeout(context.Background(), lookTimeout)
	defer cancel()
	_, trouble, bad := h.About(ctx)
	switch served, unknown := h.isServed(ctx, wire.ShareQueue(h.options.Store)); {
	case unknown == nil && !served:
		return fmt.Errorf("no worker serves the shared state (queue %s): start a worker: %w", wire.ShareQueue(h.options.Store), err)
	case trouble != "":
		return fmt.Errorf("the shared state does not continue: %s: %w", trouble, err)
	case bad != nil:
		return fmt.Errorf("the shared state does not answer: %w", bad)
	}
	return fmt.Errorf("the shared state does not answer in time: %w", err)
}

// lookTimeout is how long a look at why something does not answer may take.
const lookTimeout = 5 * time.Second

// closeTimeout is how long a follower waits until a run that has ended has given back what it held.
const closeTimeout = 5 * time.Second

// awaitClose waits until a run that has ended is closed on the server: by then it has given back what it held, and what it leaves is known.
func (h *Host) awaitClose(ctx context.Context, run string) {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	_ = h.client.GetWorkflow(ctx, run, "").Get(ctx, nil) // if no worker is there any more, the next one does it
}

// reserveTimeout is how long the start of a run waits for its place in its group.
const reserveTimeout = 5 * time.Second

// reserve gives a run its place in its group before it starts, so that runs take turns in the order of their starts. Without a worker the run
// gets its place when it begins. If the run does not start, its place is given up when another run waits for it.
func (h *Host) reserve(ctx context.Context, e wire.Enter) {
	ctx, cancel := context.WithTimeout(ctx, reserveTimeout)
	defer cancel()
	_, _ = h.asker.Ask(ctx, wire.Request{ID: engine.NewID(), Enter: &e})
}

// personTimeout is how long a person waits for an answer.
const personTimeout = 30 * time.Second

func refusalOf(r wire.Reply, err error) error {
	if err == nil && r.Refusal != "" {
		err = &shared.Refusal{Message: r.Refusal}
	}
	return err
}

// Limits returns the state of the agents and quotas that bound attempts, in the order of their kinds and names.
func (h *Host) Limits(ctx context.Context) ([]event.Limit, error) {
	reply, _, err := h.asker.Look(ctx, wire.Request{Limits: true})
	return reply.Limits, refusalOf(reply, err)
}

// ChangeLimit closes a breaker, or stops or starts an agent, for a person. It reports whether that has changed anything.
func (h *Host) ChangeLimit(ctx context.Context, c event.LimitChange) (changed bool, err error) {
	reply, err := h.askOnce(ctx, wire.Request{Change: &c})
	return reply.Changed, err
}

// Turn returns the turn that a run waits for; nil: it waits for none.
func (h *Host) Turn(ctx context.Context, run string) (*engine.Turn, error) {
	reply, _, err := h.asker.Look(ctx, wire.Request{Turns: true})
	for _, t := range reply.Turns {
		if t.Run == run {
			return &engine.Turn{Group: t.Group, Behind: t.Behind}, nil
		}
	}
	return nil, refusalOf(reply, err)
}

// IsOlder reports whether an error says that a worker is of a release that is older than what runs share.
func IsOlder(err error) bool { return strings.Contains(err.Error(), share.NewerRules) }

// tellRules lets what runs share continue with the rules of this release, if these are newer than those of its execution. Workers of an older
// release are refused: they cannot keep it.
func (h *Host) tellRules(ctx context.Context) error {
	looking, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	d, err := h.client.DescribeWorkflowExecution(looking, wire.ShareID(h.options.Store), "")
	if err != nil || d.GetWorkflowExecutionInfo().GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return nil
	}
	reply, _, err := h.asker.Look(looking, wire.Request{About: true})
	about := reply.About
	if err != nil { // no worker has made a first decision: this one says why in the history
		why := h.lastFailure(ctx, wire.ShareID(h.options.Store))
		if strings.Contains(why, share.NewerRules) && strings.Contains(why, fmt.Sprintf("this worker knows rules %d:", share.Rules)) {
			return errors.New(why)
		}
	}
	switch {
	case err != nil && IsOlder(err): // this worker has answered
		return err
	case err != nil || about == nil: // another worker has to say it
		return nil
	case about.Rules > share.Rules:
		return fmt.Errorf(share.NewerRules+" (rules %d), and this worker knows rules %d: upgrade it", about.Rules, share.Rules)
	case about.Rules < share.Rules:
		return h.client.SignalWorkflow(ctx, wire.ShareID(h.options.Store), "", wire.Newer, share.Rules)
	}
	return nil
}

// About describes what runs share; nil: nothing is shared yet, or no worker keeps it. trouble says why it does not go on.
func (h *Host) About(ctx context.Context) (about *wire.About, trouble string, err error) {
	id := wire.ShareID(h.options.Store)
	d, err := h.client.DescribeWorkflowExecution(ctx, id, "")
	if isNotFound(err) || err == nil && d.GetWorkflowExecutionInfo().GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	if t := d.GetPendingWorkflowTask(); t.GetAttempt() > 1 {
		if why := h.lastFailure(ctx, id); why != "" || t.GetAttempt() >= stuckAfter {
			return nil, fmt.Sprintf("its workers fail at the same point, %d times so far: %s", t.GetAttempt()-1, cmp.Or(why, "a worker does not answer in time")), nil
		}
	}
	if served, err := h.isServed(ctx, wire.ShareQueue(h.options.Store)); err != nil || !served {
		return nil, "", err
	}
	reply, _, err := h.asker.Look(ctx, wire.Request{About: true})
	return reply.About, "", err
}

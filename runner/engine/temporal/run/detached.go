package run

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
)

// An execution cannot end while an activity is in flight. Once its history is long, the workers therefore detach the attempts that they have: the
// activity ends, and a workflow of its own waits for the worker. Short attempts, and those of short histories, cost nothing more than they did.

// detaches is the number of the rules from which on attempts are detached.
const detaches = 2

// untaken is how long an attempt of an execution whose history is long waits for a worker, before it is given back for the next execution.
const untaken = time.Minute

// leaving is a detached attempt whose workflow is about to start.
type leaving struct {
	task    wire.Task
	started workflow.Future
}

// recall is the cancel of a detached attempt, on its way.
type recall struct {
	ticket uint64
	id     string
	sent   workflow.Future
}

// patience is how long an attempt may wait for a worker; 0: for ever.
func (d *drive) patience(t *wire.Task) time.Duration {
	if t.Detaches && workflow.GetInfo(d.ctx).GetCurrentHistoryLength() >= d.softLength() {
		return untaken
	}
	return 0
}

// isUnstarted reports whether no worker has begun with an activity in time.
func isUnstarted(err error) bool {
	var late *temporal.TimeoutError
	return errors.As(err, &late) && late.TimeoutType() == enums.TIMEOUT_TYPE_SCHEDULE_TO_START
}

// detached are the tickets of the attempts that go on without an execution of the run.
func (d *drive) detached() []uint64 { return slices.Sorted(maps.Keys(d.carried.Detached)) }

// detach lets an attempt go on in a workflow of its own.
func (d *drive) detach(t *wire.Task, claim *wire.Claim, cancelled bool) {
	if d.carried.Detached == nil {
		d.carried.Detached = map[uint64]*wire.Away{}
	}
	d.carried.Detached[t.Ticket] = &wire.Away{ID: d.start.Header.Run + "/" + d.name(fmt.Sprint(t.Ticket)), Cancelled: cancelled,
		Lost: engine.LostAlone(t.Attempt, "the workflow that waited for its worker is gone")}
	d.startDetached(t, claim)
}

func (d *drive) startDetached(t *wire.Task, claim *wire.Claim) {
	arg, err := wire.Encode(&wire.Detachment{Run: d.start.Header.Run, Task: *t, Claim: *claim})
	if err != nil {
		panic(err) // the attempt was encoded before
	}
	if !d.hasRoomFor(len(arg)) {
		d.held = append(d.held, &held{task: t, claim: claim})
		return
	}
	ctx := workflow.WithChildOptions(d.ctx, workflow.ChildWorkflowOptions{WorkflowID: d.carried.Detached[t.Ticket].ID, ParentClosePolicy: abandon,
		WorkflowIDReusePolicy: rejectDuplicate})
	d.leaving = append(d.leaving, &leaving{*t, workflow.ExecuteChildWorkflow(ctx, wire.Detached, arg).GetChildWorkflowExecution()})
}

func (d *drive) isNewsOfDetached() bool {
	return slices.ContainsFunc(d.leaving, func(l *leaving) bool { return l.started.IsReady() }) ||
		slices.ContainsFunc(d.recalls, func(r *recall) bool { return r.sent.IsReady() })
}

// collectDetached hears of the workflows of detached attempts.
func (d *drive) collectDetached() {
	starting := d.leaving
	d.leaving = nil
	for _, l := range starting {
		if !l.started.IsReady() {
			d.leaving = append(d.leaving, l)
			continue
		}
		a := d.carried.Detached[l.task.Ticket]
		if err := l.started.Get(d.ctx, nil); err != nil && a != nil {
			delete(d.carried.Detached, l.task.Ticket)
			d.hear(&l.task, a.Cancelled, wire.Landing{Lost: "no workflow that waits for its worker can be started: " + err.Error()})
		} else if err == nil && a != nil && a.Cancelled {
			d.recall(l.task.Ticket, a)
		}
	}
	sent := d.recalls
	d.recalls = nil
	for _, r := range sent {
		if !r.sent.IsReady() {
			d.recalls = append(d.recalls, r)
		} else if a := d.carried.Detached[r.ticket]; r.sent.Get(d.ctx, nil) != nil && a != nil && a.ID == r.id {
			delete(d.carried.Detached, r.ticket) // it ends once its signal was received
			d.Answer(&a.Lost)
		}
	}
}

// cancelDetached cancels a detached attempt, once its workflow has started.
func (d *drive) cancelDetached(ticket uint64) {
	a := d.carried.Detached[ticket]
	if a == nil || a.Cancelled {
		return
	}
	a.Cancelled = true
	if !slices.ContainsFunc(d.leaving, func(l *leaving) bool { return l.task.Ticket == ticket }) &&
		!slices.ContainsFunc(d.held, func(h *held) bool { return h.claim != nil && h.task.Ticket == ticket }) {
		d.recall(ticket, a)
	}
}

func (d *drive) recall(ticket uint64, a *wire.Away) {
	d.recalls = append(d.recalls, &recall{ticket, a.ID, workflow.SignalExternalWorkflow(d.ctx, a.ID, "", wire.Recall, true)})
}

// hearLanded takes the answers of detached attempts.
func (d *drive) hearLanded() {
	for b := []byte(nil); d.landed.ReceiveAsync(&b); {
		var l wire.Landing
		if err := wire.Decode(b, &l); err != nil {
			workflow.GetLogger(d.ctx).Warn("the answer of an attempt cannot be read", "error", err)
			continue
		}
		a := d.carried.Detached[l.Task.Ticket]
		if a == nil || a.ID != l.ID {
			continue
		}
		delete(d.carried.Detached, l.Task.Ticket)
		if a.Session != "" && l.Task.Agent != nil {
			l.Task.Agent.Session = a.Session
		}
		d.hear(l.Task, a.Cancelled, l)
	}
}

// dropDetached ends the attempts that the end of the run leaves behind.
func (d *drive) dropDetached() {
	var sent []workflow.Future
	for _, ticket := range d.detached() {
		sent = append(sent, workflow.SignalExternalWorkflow(d.ctx, d.carried.Detached[ticket].ID, "", wire.Recall, true))
	}
	for _, s := range sent {
		_ = s.Get(d.ctx, nil) // it may have ended
	}
}

// Detached is the workflow that waits for the answer of a detached attempt. If the run recalls the attempt, the worker cancels it: a signal says so, because
// the server takes the cancel of a workflow that is gone for done. It returns no error: what became of the attempt is a matter of the run.
func (h *Host) Detached(ctx workflow.Context, arg []byte) error {
	var x wire.Detachment
	if err := wire.Decode(arg, &x); err != nil {
		panic(err)
	}
	free, _ := workflow.NewDisconnectedContext(ctx)
	inner, cancel := workflow.WithCancel(ctx)
	recalled, rejoined := workflow.GetSignalChannel(ctx, wire.Recall), h.rejoin(inner, &x, false)
	if err := workflow.Await(free, func() bool { return rejoined.IsReady() || recalled.Len() > 0 }); err != nil {
		return err
	}
	if recalled.Len() > 0 {
		cancel()
	}
	var b []byte
	err := rejoined.Get(free, &b)
	if temporal.IsCanceledError(err) { // before the worker has heard of it: it has the attempt all the same
		err = h.rejoin(free, &x, true).Get(free, &b)
	}
	l := h.landing(b, err)
	l.ID, l.Task = workflow.GetInfo(ctx).WorkflowExecution.ID, &x.Task
	told, err := wire.Encode(&l)
	if err == nil {
		err = workflow.SignalExternalWorkflow(free, x.Run, "", wire.Landed, told).Get(free, nil)
	}
	if err != nil {
		workflow.GetLogger(ctx).Debug("the run has ended", "error", err)
	}
	return nil
}

// rejoin asks the worker that has the attempt for its answer.
func (h *Host) rejoin(ctx workflow.Context, x *wire.Detachment, cancelled bool) workflow.Future {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{TaskQueue: x.Claim.Queue, Summary: x.Task.Name,
		ScheduleToStartTimeout: 2 * h.heartbeat(), StartToCloseTimeout: forever, ScheduleToCloseTimeout: forever, HeartbeatTimeout: h.heartbeat(),
		WaitForCancellation: true, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1}})
	return workflow.ExecuteActivity(ctx, wire.Rejoin, x.Run, x.Claim.Token, cancelled)
}

// Package share is the workflow that keeps what the runs of a store share: values, events, messages, questions to people, admission, turns in
// groups. Its rules are those of packages shared and admission; the workflow keeps their rows as data, and the server the order of requests.
//
// One execution at a time is alive for each store, under an id of its own. Workers ask it by updates, of which each has several requests: the
// server takes ten updates of a workflow at once and 2,000 in all, and one task of the workflow is five events. A handler does not block, so
// that the requests of an update and their effects are one task: all of them happen, or none. What waits (an attempt in a line, a run for its
// turn, a party at a point) is a row, and is woken by a signal to the run. An execution continues as new after 2,000 events, with the rows, the
// signals that were not sent, and the last replies, so that a request that is sent again is not carried out again.
//
// One workflow has all kinds of things, because one request may touch several: a breaker that opens publishes an event, work that is handed
// over makes a message, a run that ends leaves its lines, points and questions. notes/one.md has what was measured.
//
// The package is pure. Enter at [Host.Workflow].
package share

import (
	"cmp"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/runner/admission"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/event"
)

// Bounds of an execution.
const (
	// Soft is the length of a history from which on an execution continues as new.
	Soft = 2000
	// SoftBytes is the same of the size.
	SoftBytes = 4 << 20
	// Sweep is how often runs are looked for that hold something and were ended on the server.
	Sweep = time.Minute
)

// Host keeps what runs share. The zero value is for use.
type Host struct {
	Soft  int           // 0 means [Soft]
	Sweep time.Duration // by the clock of the server; 0 means [Sweep]
	Clock wire.Clock
}

// keeper is one execution.
type keeper struct {
	*Host
	*store
	ctx     workflow.Context
	name    string
	sending []*sending // the signals on their way, one for each run
	look    workflow.Future
	sweep   alarm
	goes    alarm      // for the line that goes on first
	goesOf  event.Time // the moment of that alarm
	starter
}

// sending is a signal on its way.
type sending struct {
	run    string
	future workflow.Future
}

// alarm is a timer.
type alarm struct {
	future workflow.Future
	cancel workflow.CancelFunc
}

func (a *alarm) rings() bool { return a.future != nil && a.future.IsReady() }

// stop makes that the alarm does not ring.
func (a *alarm) stop() {
	if a.cancel != nil {
		a.cancel()
	}
	*a = alarm{}
}

// set lets the alarm ring after a while.
func (a *alarm) set(ctx workflow.Context, wait time.Duration) {
	a.stop()
	inner, cancel := workflow.WithCancel(ctx)
	*a = alarm{workflow.NewTimer(inner, wait), cancel}
}

// Workflow keeps what the runs of a store share, until it is ended on the server.
func (h *Host) Workflow(ctx workflow.Context, arg []byte) error {
	var from wire.Shared
	if err := wire.Decode(arg, &from); err != nil {
		return temporal.NewNonRetryableApplicationError(err.Error(), "Start", nil)
	}
	s, err := open(&from)
	if err != nil {
		return err
	}
	s.birth = workflow.GetInfo(ctx).FirstRunID
	k := &keeper{Host: h, store: s, ctx: ctx, name: from.Store}
	k.tick()
	if err := workflow.SetUpdateHandler(ctx, wire.Update, k.update); err != nil {
		return err
	}
	if err := workflow.SetQueryHandler(ctx, wire.Look, k.query); err != nil {
		return err
	}
	for {
		k.tick()
		if err := k.turn(); err != nil {
			return err
		}
		full := k.isLong()
		if full && k.isQuiet() {
			return k.continueAsNew()
		}
		if !full {
			k.send()
			k.setAlarms()
			if err := k.startRuns(); err != nil {
				return err
			}
		}
		if err := workflow.Await(ctx, k.isNews); err != nil {
			return err
		}
	}
}

func (k *keeper) tick() { k.now = k.Clock.At(workflow.Now(k.ctx)) }

// isQuiet reports whether nothing is on its way.
func (k *keeper) isQuiet() bool { return len(k.sending) == 0 && k.look == nil && k.launch == nil }

func (k *keeper) isLong() bool {
	info := workflow.GetInfo(k.ctx)
	return info.GetCurrentHistoryLength() >= cmp.Or(k.Host.Soft, Soft) || info.GetCurrentHistorySize() >= SoftBytes
}

// update carries out the requests of an update. It does not wait for anything.
func (k *keeper) update(_ workflow.Context, arg []byte) ([]byte, error) {
	var a wire.Asking
	if err := wire.Decode(arg, &a); err != nil {
		return nil, temporal.NewNonRetryableApplicationError(err.Error(), "Request", nil)
	}
	k.tick()
	return wire.Encode(k.answer(&a))
}

// query answers a request that changes nothing.
func (k *keeper) query(arg []byte) ([]byte, error) {
	var r wire.Request
	if err := wire.Decode(arg, &r); err != nil {
		return nil, err
	}
	reply, err := k.read(&r)
	if err != nil {
		reply = wire.Reply{Refusal: err.Error()}
	}
	return wire.Encode(&reply)
}

// isNews reports whether there is something to do.
func (k *keeper) isNews() bool {
	if k.goes.rings() || k.sweep.rings() || k.wake.rings() || k.look != nil && k.look.IsReady() || k.launch != nil && k.launch.IsReady() {
		return true
	}
	for _, s := range k.sending {
		if s.future.IsReady() {
			return true
		}
	}
	if k.isLong() {
		return k.isQuiet()
	}
	for i := range k.unsent {
		if !k.isSending(k.unsent[i].Run) {
			return true
		}
	}
	return k.rows.starts || k.rows.loops || k.goesOn != k.goesOf || k.look == nil && (len(k.holders()) > 0) != (k.sweep.future != nil)
}

// turn does what has come due.
func (k *keeper) turn() error {
	left := k.sending[:0]
	for _, s := range k.sending {
		if !s.future.IsReady() {
			left = append(left, s)
		} // a run that has ended hears nothing
	}
	k.sending = left
	if k.goes.rings() {
		k.goes, k.goesOf = alarm{}, 0
		if k.goesOn != 0 && k.goesOn <= k.now {
			if _, err := k.applyLine(admission.Operation{Remove: []string{}}); err != nil {
				return err
			}
		}
	}
	if k.look != nil && k.look.IsReady() {
		var ended []string
		err := k.look.Get(k.ctx, &ended)
		k.look = nil
		for i := 0; i < len(ended) && err == nil; i++ {
			if err := k.abandon(ended[i]); err != nil {
				return err
			}
		}
	}
	k.hearLaunch()
	if k.sweep.rings() {
		k.sweep = alarm{}
		if runs := k.holders(); len(runs) > 0 {
			ctx := workflow.WithActivityOptions(k.ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute, ScheduleToCloseTimeout: 10 * time.Minute})
			k.look = workflow.ExecuteActivity(ctx, wire.Alive, runs)
		}
	}
	return nil
}

func (k *keeper) isSending(run string) bool {
	for _, s := range k.sending {
		if s.run == run {
			return true
		}
	}
	return false
}

// maxSending bounds the signals that are on their way at once.
const maxSending = 200

// send sends signals, one for each run at a time: the server keeps no order of two.
func (k *keeper) send() {
	busy := map[string]bool{}
	for _, s := range k.sending {
		busy[s.run] = true
	}
	left := k.unsent[:0]
	for _, u := range k.unsent {
		if busy[u.Run] || len(k.sending) >= maxSending {
			busy[u.Run] = true
			left = append(left, u)
			continue
		}
		busy[u.Run] = true
		k.sending = append(k.sending, &sending{u.Run, workflow.SignalExternalWorkflow(k.ctx, u.Run, "", u.Name, u.Body)})
	}
	k.unsent = left
}

func (k *keeper) setAlarms() {
	if k.goesOn != k.goesOf {
		if k.goesOf = k.goesOn; k.goesOn == 0 {
			k.goes.stop()
		} else {
			k.goes.set(k.ctx, k.Clock.Wait(k.goesOn.Sub(k.now)))
		}
	}
	switch holds := len(k.holders()) > 0; {
	case !holds && k.sweep.future != nil:
		k.sweep.stop()
	case holds && k.sweep.future == nil && k.look == nil:
		k.sweep.set(k.ctx, cmp.Or(k.Host.Sweep, Sweep))
	}
}

func (k *keeper) continueAsNew() error {
	next, err := k.left(k.name)
	if err != nil {
		return err
	}
	arg, err := wire.Encode(next)
	if err != nil {
		return err
	}
	return workflow.NewContinueAsNewError(k.ctx, wire.Share, arg)
}

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
	"fmt"
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
	// longerBy is how many events later an execution whose state is too large for the next one tries again.
	longerBy = 200
	// Sweep is how often runs are looked for that hold something and were ended on the server.
	Sweep = time.Minute
)

// Rules is the number of the rules by which requests are answered: those of packages shared and admission as far as they decide which signals,
// timers and activities the workflow asks for. A release that changes them raises the number, and keeps the rules of the number before for
// executions that began with them: see keeper.rules. Its workers then ask the workflow to continue as new, and the next execution has the new rules.
// A worker that does not know the rules of an execution leaves it to the others.
const Rules = 2

// Host keeps what runs share. The zero value is for use.
type Host struct {
	Soft  int           // 0 means [Soft]
	Sweep time.Duration // by the clock of the server; 0 means [Sweep]
	Clock wire.Clock
	Large bool // payloads lie beside the server where they are large
	Rules int  // for tests; 0 means [Rules]
}

// NewerRules begins what a worker says that does not know the rules of an execution.
const NewerRules = "a newer release has taken over the shared state"

func (h *Host) knows() int { return cmp.Or(h.Rules, Rules) }

// keeper is one execution.
type keeper struct {
	*Host
	*store
	ctx     workflow.Context
	name    string
	newer   int // the newest rules that workers have told of
	longer  int // the length of the history before which the execution does not try to continue as new
	told    workflow.ReceiveChannel
	sending []*sending      // the messages on their way
	busy    map[string]bool // the runs that they are for
	look    workflow.Future
	sweep   alarm
	goes    alarm      // for the line that goes on first
	goesOf  event.Time // the moment of that alarm
	starter
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
	if from.Rules > h.knows() {
		panic(fmt.Sprintf(NewerRules+" (rules %d), and this worker knows rules %d: upgrade it", from.Rules, h.knows()))
	}
	s, err := open(&from)
	if err != nil {
		return err
	}
	s.birth = workflow.GetInfo(ctx).FirstRunID
	k := &keeper{Host: h, store: s, ctx: ctx, name: from.Store, newer: from.Rules, busy: map[string]bool{}, told: workflow.GetSignalChannel(ctx, wire.Newer)}
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
		if k.isLong() && k.isQuiet() {
			if err := k.continueAsNew(); err != nil {
				return err
			}
		}
		if !k.isLong() {
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
	if info.GetCurrentHistoryLength() < k.longer {
		return false
	}
	if k.newer > k.rules {
		return true
	}
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
	if k.told.Len() > 0 {
		return true
	}
	if k.isLong() {
		return k.isQuiet()
	}
	return k.hasToSend() || k.rows.starts || k.rows.loops || k.goesOn != k.goesOf || k.look == nil && (len(k.holders()) > 0) != (k.sweep.future != nil)
}

// turn does what has come due.
func (k *keeper) turn() error {
	for rules := 0; k.told.ReceiveAsync(&rules); {
		k.newer = max(k.newer, rules)
	}
	k.hearSent()
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
	next.Rules, next.Large = k.newer, k.large || k.Host.Large
	arg, err := wire.Encode(next)
	if err != nil {
		return err
	}
	most := wire.MaxPayload
	if next.Large {
		most = wire.MaxLarge
	}
	if len(arg) > most { // the server would refuse it for ever: nothing more is taken in until there is less
		k.crowded, k.longer = true, workflow.GetInfo(k.ctx).GetCurrentHistoryLength()+longerBy
		return nil
	}
	return workflow.NewContinueAsNewError(k.ctx, wire.Share, arg)
}

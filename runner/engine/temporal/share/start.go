package share

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

// Events that are due and moments of routines start runs. The workflow knows when, and has a worker start the runs: the worker asks for what is due,
// as the daemon of a store does. The id of a run is a hash of its cause, so a run that is started twice starts once.

// starter lets workers start runs.
type starter struct {
	due      bool       // an event is due
	at       event.Time // the next moment of a routine; 0: none
	looks    event.Time // when registered loops are looked after; 0: there are none
	soon     bool       // the look was asked for: another one follows, because a run tells its end before the server knows it
	launch   workflow.Future
	moved    bool // something has changed since the launch began
	failures int  // one after the other
	rests    event.Time
	wake     alarm
	wakeOf   event.Time
}

const (
	// launchTimeout bounds one launch: it starts a bounded number of runs.
	launchTimeout = 2 * time.Minute
	// launchSilence is how long the worker of a launch may be silent.
	launchSilence = 5 * time.Second
	// shortRest and longRest bound the pause after a launch that has failed, or that has started nothing.
	shortRest = time.Second
	longRest  = time.Minute
	// soonAgain and nowAndThen are when registered loops are looked after again.
	soonAgain  = 2 * time.Second
	nowAndThen = 30 * time.Second
)

// startRuns has a worker start the runs that are to start now, and sets the alarm for the next ones.
func (k *keeper) startRuns() (err error) {
	if k.rows.starts {
		k.rows.starts, k.moved = false, true
		if k.due, k.at, err = shared.NextStart(&k.rows); err != nil {
			return err
		}
	}
	if k.rows.loops {
		keeps, err := shared.KeepsLoops(&k.rows)
		if err != nil {
			return err
		}
		k.rows.loops, k.soon, k.looks = false, keeps, 0
		if keeps {
			k.looks = k.now
		}
	}
	at := k.at
	if k.looks != 0 && (at == 0 || k.looks < at) {
		at = k.looks
	}
	if k.due {
		at = k.now
	}
	if k.launch != nil || at == 0 {
		k.wake.stop()
		return nil
	}
	if at = max(at, k.rests); at > k.now {
		if at != k.wakeOf || k.wake.future == nil {
			k.wakeOf = at
			k.wake.set(k.ctx, k.Clock.Wait(at.Sub(k.now)))
		}
		return nil
	}
	k.wake.stop()
	ctx := workflow.WithActivityOptions(k.ctx, workflow.ActivityOptions{StartToCloseTimeout: launchTimeout, HeartbeatTimeout: launchSilence,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1}})
	k.launch, k.moved = workflow.ExecuteActivity(ctx, wire.Launch, k.looks != 0 && k.looks <= k.now), false
	return nil
}

// hearLaunch hears the end of a launch.
func (k *keeper) hearLaunch() {
	if k.wake.rings() {
		k.wake = alarm{}
	}
	if k.launch == nil || !k.launch.IsReady() {
		return
	}
	err := k.launch.Get(k.ctx, nil)
	k.launch = nil
	looked := k.looks != 0 && k.looks <= k.now
	switch {
	case err != nil || !looked:
	case k.soon:
		k.soon, k.looks = false, k.now.Add(soonAgain)
	default:
		k.looks = k.now.Add(nowAndThen)
	}
	if err == nil && (k.moved || k.rows.starts || looked) {
		k.failures, k.rests = 0, 0
		return
	}
	k.rests = k.now.Add(min(shortRest<<min(k.failures, 10), longRest))
	k.failures++
}

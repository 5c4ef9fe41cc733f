package share

import (
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
)

// The messages that wait for a run go together, in one signal, and the next signal to the run follows once the server has taken this one: the server keeps no
// order of two. A few signals are sent by the server. It records two events of the history for each, so many at once are sent by a worker, in an
// activity: three events for hundreds of runs. A worker that is killed meanwhile leaves the activity to another one, which sends all of them again, and
// the runs pass over what they have heard: see [wire.Parcel].

// Bounds of what is on its way.
const (
	// few is how many runs get their messages by signals of the server.
	few = 20
	// maxSending is how many signals and deliveries are on their way at once.
	maxSending = 200
	// maxDeliveries is how many deliveries are on their way at once.
	maxDeliveries = 4
	// maxParcels is how many runs one delivery is for, and maxLetters how many messages a parcel has: half of what waits in a run before it drops events.
	maxParcels = 250
	maxLetters = engine.MaxInbox / 2
	// maxBytes bounds the messages that go together, for one run and for several: a message has less. Four times that fit into one task of the workflow.
	maxBytes = 600_000
	// deliverySilence is how long the worker of a delivery may be silent.
	deliverySilence = 10 * time.Second
)

// deliveryRetries say how a delivery is repeated: until it is done.
var deliveryRetries = temporal.RetryPolicy{InitialInterval: 100 * time.Millisecond, MaximumInterval: 10 * time.Second}

// sending are messages on their way.
type sending struct {
	runs     []string
	future   workflow.Future
	delivery bool
	bytes    int
}

// hearSent forgets what the server has taken. A run that has ended hears nothing.
func (k *keeper) hearSent() {
	k.sending = slices.DeleteFunc(k.sending, func(s *sending) bool {
		if !s.future.IsReady() {
			return false
		}
		for _, run := range s.runs {
			delete(k.busy, run)
		}
		return true
	})
}

// isFull reports whether nothing more is sent until something of what is on its way has arrived.
func (k *keeper) isFull() bool {
	if len(k.sending) >= maxSending {
		return true
	}
	deliveries, bytes := 0, 0
	for _, s := range k.sending {
		if bytes += s.bytes; s.delivery {
			deliveries++
		}
	}
	return deliveries >= maxDeliveries || bytes >= maxDeliveries*maxBytes
}

// hasToSend reports whether a message waits that can be sent now.
func (k *keeper) hasToSend() bool {
	return !k.isFull() && slices.ContainsFunc(k.unsent, func(u wire.Unsent) bool { return !k.busy[u.Run] })
}

// send sends what waits, as far as there is room.
func (k *keeper) send() {
	if k.rules < 2 {
		k.sendSingly()
		return
	}
	for k.hasToSend() {
		parcels := k.takeParcels()
		if len(parcels) > few {
			k.deliver(parcels)
			continue
		}
		for _, list := range parcels {
			run := list[0].Run
			for i := range list {
				list[i].Run = ""
			}
			body, err := wire.Encode(&wire.Parcel{From: k.birth, Messages: list})
			if err != nil {
				continue // the bodies are bytes
			}
			k.note(&sending{runs: []string{run}, future: workflow.SignalExternalWorkflow(k.ctx, run, "", wire.Parcels, body), bytes: len(body)})
		}
	}
}

// takeParcels takes messages out of those that wait: for as many runs as go into one delivery, all that go together for each.
func (k *keeper) takeParcels() (parcels [][]wire.Unsent) {
	index, bytes := map[string]int{}, 0
	k.unsent = slices.DeleteFunc(k.unsent, func(u wire.Unsent) bool {
		n, known := index[u.Run]
		switch {
		case k.busy[u.Run] || n < 0:
			return false
		case bytes > 0 && bytes+len(u.Body) > maxBytes, !known && len(parcels) == maxParcels, known && len(parcels[n]) == maxLetters:
			index[u.Run] = -1 // what comes later for the run waits, too
			return false
		case !known:
			n = len(parcels)
			index[u.Run], parcels = n, append(parcels, nil)
		}
		parcels[n] = append(parcels[n], u)
		bytes += len(u.Body)
		return true
	})
	return parcels
}

// deliver has a worker send parcels.
func (k *keeper) deliver(parcels [][]wire.Unsent) {
	d := wire.Delivery{From: k.birth}
	index := map[string]int{} // of the bodies
	var runs []string
	for _, list := range parcels {
		var letters []wire.Letter
		for _, u := range list {
			n, known := index[string(u.Body)]
			if !known {
				n = len(d.Bodies)
				index[string(u.Body)], d.Bodies = n, append(d.Bodies, u.Body)
			}
			letters = append(letters, wire.Letter{Run: u.Run, Name: u.Name, Body: n, Number: u.Number})
		}
		d.Parcels, runs = append(d.Parcels, letters), append(runs, list[0].Run)
	}
	arg, err := wire.Encode(&d)
	if err != nil {
		return // the bodies are bytes
	}
	retries := deliveryRetries
	ctx := workflow.WithActivityOptions(k.ctx, workflow.ActivityOptions{HeartbeatTimeout: deliverySilence, StartToCloseTimeout: time.Hour, RetryPolicy: &retries})
	k.note(&sending{runs: runs, future: workflow.ExecuteActivity(ctx, wire.Deliver, arg), delivery: true, bytes: len(arg)})
}

func (k *keeper) note(s *sending) {
	k.sending = append(k.sending, s)
	for _, run := range s.runs {
		k.busy[run] = true
	}
}

// sendSingly sends one message to each run, as the rules before parcels had it.
func (k *keeper) sendSingly() {
	waits := map[string]bool{}
	k.unsent = slices.DeleteFunc(k.unsent, func(u wire.Unsent) bool {
		if k.busy[u.Run] || waits[u.Run] || len(k.sending) >= maxSending {
			waits[u.Run] = true
			return false
		}
		k.note(&sending{runs: []string{u.Run}, future: workflow.SignalExternalWorkflow(k.ctx, u.Run, "", u.Name, u.Body)})
		return true
	})
}

package share

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
)

// anything matches each argument of what the environment of tests is asked for.
const anything = "mock.Anything"

// post has an execution send messages, and returns what each run has heard, and the numbers of deliveries and signals.
func post(t *testing.T, from *wire.Shared) (heard map[string][]int64, deliveries, signals int) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // the machine may be busy
	env.SetTestTimeout(time.Minute)
	env.RegisterWorkflowWithOptions((&Host{}).Workflow, workflow.RegisterOptions{Name: wire.Share})
	var mu sync.Mutex
	heard = map[string][]int64{}
	env.RegisterActivityWithOptions(func(_ context.Context, arg []byte) error {
		var d wire.Delivery
		if err := wire.Decode(arg, &d); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		deliveries++
		for i := range d.Parcels {
			run, p := d.Parcel(i)
			for _, m := range p.Messages {
				heard[run] = append(heard[run], m.Number)
				if want := body(run, m.Number); string(m.Body) != want || m.Name != wire.Posted {
					t.Errorf("run %s hears %s %s, want %s", run, m.Name, m.Body, want)
				}
			}
		}
		return nil
	}, activity.RegisterOptions{Name: wire.Deliver})
	env.OnSignalExternalWorkflow(anything, anything, anything, anything, anything).Return(
		func(_, run, _, name string, arg any) error {
			mu.Lock()
			defer mu.Unlock()
			if signals++; name == wire.Posted { // by the rules before parcels
				heard[run] = append(heard[run], 0)
				return nil
			}
			var p wire.Parcel
			if err := wire.Decode(arg.([]byte), &p); err != nil {
				t.Error(err)
			}
			for _, m := range p.Messages {
				heard[run] = append(heard[run], m.Number)
			}
			return nil
		})
	env.RegisterDelayedCallback(env.CancelWorkflow, time.Minute)
	arg, err := wire.Encode(from)
	if err != nil {
		t.Fatal(err)
	}
	env.ExecuteWorkflow(wire.Share, arg)
	if !env.IsWorkflowCompleted() {
		t.Fatal("the workflow does not end")
	}
	return heard, deliveries, signals
}

// body is that of a message: those with even numbers are the same for all runs.
func body(run string, number int64) string {
	if number%2 == 0 {
		return "the same"
	}
	return run
}

// TestParcels: the messages for many runs go together. Each run hears all of its own, once and in their order.
func TestParcels(t *testing.T) {
	for _, x := range []struct{ rules, runs, each, deliveries, signals int }{
		{1, 300, 1, 0, 300}, // more than go out at once
		{1, 2, 3, 0, 6},
		{2, few, 3, 0, few},
		{2, few + 1, 3, 1, 0},
		{2, 4*maxParcels + few + 1, 2, 5, 0},
		{2, 1, 3*maxLetters + 1, 0, 4},
	} {
		t.Run(fmt.Sprintf("rules=%d,runs=%d,each=%d", x.rules, x.runs, x.each), func(t *testing.T) {
			from, want := &wire.Shared{Store: "s", Rules: x.rules}, map[string][]int64{}
			for range x.each {
				for run := range x.runs {
					name := fmt.Sprint("r", run)
					from.Posted++
					from.Unsent = append(from.Unsent, wire.Unsent{Run: name, Name: wire.Posted, Body: []byte(body(name, from.Posted)), Number: from.Posted})
					want[name] = append(want[name], from.Posted)
				}
			}
			heard, deliveries, signals := post(t, from)
			for run, numbers := range want {
				if x.rules == 1 {
					numbers = make([]int64, x.each)
				}
				if fmt.Sprint(heard[run]) != fmt.Sprint(numbers) {
					t.Fatalf("run %s has heard %v, want %v", run, heard[run], numbers)
				}
			}
			if deliveries != x.deliveries || signals != x.signals {
				t.Errorf("%d deliveries and %d signals, want %d and %d", deliveries, signals, x.deliveries, x.signals)
			}
		})
	}
}

// TestLargeParcels: what goes together has a bound, also for runs that get the same.
func TestLargeParcels(t *testing.T) {
	k := &keeper{store: &store{}, busy: map[string]bool{}}
	for n := range 20 {
		for run := range 3 {
			k.queue(fmt.Sprint(run), wire.Posted, []byte(noise[n*60_000:(n+1)*60_000]))
		}
	}
	sent := 0
	for len(k.unsent) > 0 {
		bytes := 0
		for _, list := range k.takeParcels() {
			for i, u := range list {
				if bytes += len(u.Body); i > 0 && u.Number <= list[i-1].Number {
					t.Errorf("message %d comes after %d", u.Number, list[i-1].Number)
				}
				sent++
			}
		}
		if bytes == 0 || bytes > maxBytes {
			t.Fatalf("%d bytes go together, and the limit is %d", bytes, maxBytes)
		}
	}
	if sent != 60 {
		t.Errorf("%d messages are sent, want 60", sent)
	}
}

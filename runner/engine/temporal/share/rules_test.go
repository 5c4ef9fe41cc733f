package share

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/admission"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/event"
)

// execution runs one execution, and returns what it leaves to the next one; nil: it left nothing within an hour.
func execution(t *testing.T, h *Host, from *wire.Shared, signals func(*testsuite.TestWorkflowEnvironment)) (*wire.Shared, error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // the machine may be busy
	env.SetTestTimeout(time.Minute)
	env.RegisterWorkflowWithOptions(h.Workflow, workflow.RegisterOptions{Name: wire.Share})
	env.SetWorkflowRunTimeout(time.Hour)
	if signals != nil {
		signals(env)
	}
	arg, err := wire.Encode(from)
	if err != nil {
		t.Fatal(err)
	}
	env.ExecuteWorkflow(wire.Share, arg)
	var next *workflow.ContinueAsNewError
	if err = env.GetWorkflowError(); !errors.As(err, &next) {
		return nil, err
	}
	var to wire.Shared
	if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &arg); err != nil {
		t.Fatal(err)
	}
	if err := wire.Decode(arg, &to); err != nil {
		t.Fatal(err)
	}
	return &to, nil
}

// TestNewerRules: workers of a release with newer rules have the workflow continue as new, and the next execution has their rules. A worker that does
// not know the rules of an execution says so, and does nothing.
func TestNewerRules(t *testing.T) {
	next, err := execution(t, &Host{Rules: 2}, &wire.Shared{Store: "s", Rules: 1}, func(env *testsuite.TestWorkflowEnvironment) {
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(wire.Newer, 2) }, time.Minute)
	})
	if err != nil || next.Rules != 2 {
		t.Fatalf("the next execution has %+v, %v", next, err)
	}
	next, err = execution(t, &Host{Rules: 2}, &wire.Shared{Store: "s", Rules: 2}, func(env *testsuite.TestWorkflowEnvironment) {
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(wire.Newer, 1) }, time.Minute)
	})
	if next != nil {
		t.Errorf("older rules end an execution: %+v, %v", next, err)
	}
	_, err = execution(t, &Host{Rules: 1}, next2(), nil)
	if err == nil || !strings.Contains(err.Error(), "a newer release has taken over the shared state (rules 2), and this worker knows rules 1: upgrade it") {
		t.Errorf("a worker of an older release says %v", err)
	}
}

func next2() *wire.Shared { return &wire.Shared{Store: "s", Rules: 2} }

// TestCrowded: a state that is too large for the next execution stays, and takes nothing more in.
func TestCrowded(t *testing.T) {
	from := &wire.Shared{Store: "s", Rules: Rules, Entered: map[string]*wire.Enter{"r": {Run: "r", Events: []string{noise}}}}
	s, err := open(from)
	if err != nil {
		t.Fatal(err)
	}
	k := &shop{t, s}
	k.crowded = true
	if r := k.ask(wire.Request{Admit: &admission.Request{Key: "k", Run: "r", Ticket: 1, Needs: []event.Need{{Name: "a"}}}}); !strings.Contains(r.Refusal, "the store is full") {
		t.Errorf("an attempt may wait: %+v", r)
	}
	if r := k.ask(k.kv(ir.KVSet, "key", 1.0)); !strings.Contains(r.Refusal, "the store is full") {
		t.Errorf("a value is taken: %+v", r)
	}
	if r := k.ask(k.kv(ir.KVDelete, "key", nil)); r.Refusal != "" {
		t.Errorf("a value cannot be deleted: %+v", r)
	}
	next, err := execution(t, &Host{Soft: 1}, from, func(env *testsuite.TestWorkflowEnvironment) {
		env.SetCurrentHistoryLength(10)
	})
	if next != nil {
		t.Errorf("the server would refuse the next execution, %v", err)
	}
}

// TestLarge: where payloads lie beside the server, what runs share may have more.
func TestLarge(t *testing.T) {
	for _, large := range []bool{false, true} {
		s, err := open(&wire.Shared{Store: "s", Large: large})
		if err != nil {
			t.Fatal(err)
		}
		k := &shop{t, s}
		k.now = event.At(time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC))
		refused := ""
		for i := 0; i < 60 && refused == ""; i++ {
			refused = k.ask(k.kv(ir.KVSet, fmt.Sprint(i), noise[i*50_000:(i+1)*50_000])).Refusal
		}
		if large != (refused == "") {
			t.Errorf("large is %v, and 3 MB are refused with %q", large, refused)
		}
		next, err := s.left("s")
		if err != nil || next.Large != large {
			t.Errorf("the next execution has %v, %v", next.Large, err)
		}
	}
}

// TestAnew: after an operator has ended the workflow, no token of a claim is given again, and it is said.
func TestAnew(t *testing.T) {
	now := event.At(time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC))
	s, err := open(&wire.Shared{Store: "s", Anew: now})
	if err != nil {
		t.Fatal(err)
	}
	k := &shop{t, s}
	k.now = now
	r := k.ask(wire.Request{Ask: &event.StoreRequest{Claim: &event.ClaimRequest{Operation: event.ClaimTake, Item: "i", Loop: "l", Agent: "a", Lease: time.Minute}}})
	c, err := event.ClaimOf(r.Value)
	if err != nil || c.Token < uint64(now.Go().UnixMilli()) {
		t.Errorf("the claim has the token %d, %v, %q", c.Token, err, r.Refusal)
	}
	next, err := s.left("s")
	if err != nil || next.Anew != now {
		t.Errorf("the next execution says %v, %v", next, err)
	}
	if again, err := open(next); err != nil || again.anew != now || k.ask(wire.Request{About: true}).About.Anew != now {
		t.Errorf("it is not said: %v", err)
	}
}

package run_test

import (
	"errors"
	"testing"
	"testing/fstest"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal/run"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/engine/temporal/work"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// anything matches each argument of what the environment of tests is asked for.
const anything = "mock.Anything"

// TestCancelOutlivesExecution cancels a run that waits for a called run, when its history has become so long that the execution ends: the server sends
// nothing that an execution has asked it to send and that has ended meanwhile. So the execution waits until the cancel of the called run is sent.
func TestCancelOutlivesExecution(t *testing.T) {
	p, list := dsl.Load(fstest.MapFS{"test.hcl": {Data: []byte(`workflow "w" {
  default = true
  step "first" { run = ["tell"] }
  step "calls" { call = workflow.y }
}
workflow "y" {
  step "rests" {
    wait { duration = "1h" }
  }
}`)}}, "test.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	const soft = 1000
	s := start(p.IR, "w")
	// execute runs one execution, and returns what the next one is given.
	execute := func(arg []byte, prepare func(*testsuite.TestWorkflowEnvironment), left func()) (next []byte) {
		t.Helper()
		var suite testsuite.WorkflowTestSuite
		suite.SetLogger(nothing{})
		env := suite.NewTestWorkflowEnvironment()
		env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: s.Header.Run, TaskQueue: "q"})
		env.SetTestTimeout(time.Minute)
		env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // the machine may be busy
		host := &run.Host{Machines: &runner.Programs{}, Soft: soft, Bare: true}
		env.RegisterWorkflowWithOptions(func(ctx workflow.Context, arg []byte) ([]byte, error) {
			if workflow.GetInfo(ctx).WorkflowExecution.ID == s.Header.Run {
				defer left()
			}
			return host.Workflow(ctx, arg)
		}, workflow.RegisterOptions{Name: wire.Workflow})
		w := &work.Worker{Executor: executor.Func(answer), Workspace: "/tmp"}
		env.RegisterActivityWithOptions(w.Attempt, activity.RegisterOptions{Name: wire.Attempt})
		prepare(env)
		env.ExecuteWorkflow(wire.Workflow, arg)
		var again *workflow.ContinueAsNewError
		if err := env.GetWorkflowError(); !errors.As(err, &again) {
			t.Fatalf("the execution does not continue as new: %v", err)
		}
		if err := converter.GetDefaultDataConverter().FromPayloads(again.Input, &next); err != nil {
			t.Fatal(err)
		}
		return next
	}
	carried, err := wire.NewStart(s)
	if err != nil {
		t.Fatal(err)
	}
	arg, err := wire.Encode(carried)
	if err != nil {
		t.Fatal(err)
	}
	arg = execute(arg, func(env *testsuite.TestWorkflowEnvironment) {
		env.SetOnActivityCompletedListener(func(*activity.Info, converter.EncodedValue, error) { env.SetCurrentHistoryLength(soft) })
	}, func() {})
	ended, signals, lost := make(chan struct{}), 0, false
	execute(arg, func(env *testsuite.TestWorkflowEnvironment) {
		env.OnSignalExternalWorkflow(anything, anything, anything, wire.Inbox, anything).Return(func(_, _, _, _ string, _ any) error {
			signals++
			select {
			case <-ended:
				lost = true
			case <-time.After(3 * time.Second): // an execution that does not wait ends at once
			}
			return nil
		})
		env.RegisterDelayedCallback(func() {
			env.SetCurrentHistoryLength(soft)
			packed, err := engine.PackExternal(event.External{Kind: event.ExternalCancel, Reason: "for a test"}, nil)
			if err != nil {
				t.Error(err)
			}
			env.SignalWorkflow(wire.Inbox, packed)
		}, time.Minute)
	}, func() { close(ended) })
	if signals != 1 || lost {
		t.Errorf("%d cancels are sent, and the execution ends before: %v", signals, lost)
	}
}

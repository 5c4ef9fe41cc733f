package run_test

import (
	"context"
	"testing"
	"testing/fstest"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine/temporal/run"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/engine/temporal/work"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// scenario runs a program of one step in the SDK's test environment. answer answers the activity of the step, from its first to its last start.
func scenario(t *testing.T, rules int, answer func(ctx context.Context, w *work.Worker, n int, task []byte) ([]byte, error)) (event.End, error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(nothing{})
	env := suite.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // the machine may be busy
	env.SetTestTimeout(time.Minute)
	p, list := dsl.Load(fstest.MapFS{"test.hcl": {Data: []byte(`workflow "w" {
  step "tell" {
    run     = ["tell"]
    on_lost = "fail"
  }
}`)}}, "test.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	s := start(p.IR, "w")
	env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: s.Header.Run, TaskQueue: "q"})
	env.RegisterWorkflowWithOptions((&run.Host{Machines: &runner.Programs{}, Bare: true}).Workflow, workflow.RegisterOptions{Name: wire.Workflow})
	w, n := &work.Worker{Executor: executor.Func(func(_ context.Context, a event.Attempt) event.AttemptFinished { return script(a) }), Workspace: "/tmp"}, 0
	env.RegisterActivityWithOptions(func(ctx context.Context, task []byte, _ bool) ([]byte, error) {
		n++
		return answer(ctx, w, n, task)
	}, activity.RegisterOptions{Name: wire.Attempt})
	carried, err := wire.NewStart(s)
	if err != nil {
		t.Fatal(err)
	}
	carried.Rules = rules
	arg, err := wire.Encode(carried)
	if err != nil {
		t.Fatal(err)
	}
	env.ExecuteWorkflow(wire.Workflow, arg)
	var end event.End
	var b []byte
	if err = env.GetWorkflowError(); err == nil {
		err = env.GetWorkflowResult(&b)
	}
	if err == nil {
		err = wire.Decode(b, &end)
	}
	return end, err
}

// TestUnstarted gives an attempt back that no worker has begun with in time: it is handed out again, and was not lost.
func TestUnstarted(t *testing.T) {
	starts := 0
	end, err := scenario(t, wire.Rules, func(ctx context.Context, w *work.Worker, n int, task []byte) ([]byte, error) {
		if starts = n; n == 1 {
			return nil, temporal.NewTimeoutError(enums.TIMEOUT_TYPE_SCHEDULE_TO_START, nil)
		}
		return w.Attempt(ctx, task, false)
	})
	if err != nil || end.Status != event.Succeeded || starts != 2 {
		t.Errorf("after %d starts the run ended %s: %v, %v", starts, end.Status, end.Error, err)
	}
}

// TestDetaches: the attempts of a run may be detached if its rules say so, and a run with rules of a newer release is not driven.
func TestDetaches(t *testing.T) {
	for rules := range wire.Rules + 2 {
		var given wire.Task
		_, err := scenario(t, rules, func(ctx context.Context, w *work.Worker, _ int, task []byte) ([]byte, error) {
			if err := wire.Decode(task, &given); err != nil {
				return nil, err
			}
			return w.Attempt(ctx, task, false)
		})
		if refused := err != nil; refused != (rules > wire.Rules) || given.Detaches != (rules >= 2 && rules <= wire.Rules) {
			t.Errorf("rules %d: the attempt may be detached: %t, and the error is %v", rules, given.Detaches, err)
		}
	}
}

package share

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
)

// Workers run two small workflows beside those of runs: one asks the worker a question, and one has the memory learn from a run.

const (
	// answerTimeout bounds an answer. The one that asks waits for a shorter time.
	answerTimeout = 2 * time.Minute
	// learnTimeout bounds how long the memory learns from one run, with the words of an editor.
	learnTimeout = 10 * time.Minute
	// learnSilence is how long a worker that learns may be silent.
	learnSilence = 10 * time.Second
)

// Question is the workflow of one question to a worker.
func Question(ctx workflow.Context, ask []byte) (told []byte, err error) {
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: answerTimeout, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1}})
	err = workflow.ExecuteLocalActivity(ctx, wire.Answering, ask).Get(ctx, &told)
	return told, err
}

// LearnFrom is the workflow that has the memory learn from a run. It is repeated until it is done: nothing is learned twice.
func LearnFrom(ctx workflow.Context, run string) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: learnTimeout, HeartbeatTimeout: learnSilence,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute}})
	return workflow.ExecuteActivity(ctx, wire.LearnRun, run).Get(ctx, nil)
}

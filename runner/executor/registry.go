package executor

import (
	"context"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// Registry hands each attempt to the executor of its kind. An attempt of a kind without an executor fails with a fatal error.
// It is safe for concurrent use once all executors are in it.
type Registry map[event.AttemptKind]Executor

// Register makes x the executor of attempts of the given kinds. It panics where a kind has an executor already.
func (r Registry) Register(x Executor, kinds ...event.AttemptKind) {
	for _, k := range kinds {
		if r[k] != nil {
			panic(fmt.Sprintf("executor: two executors of attempts of kind %q", k))
		}
		r[k] = x
	}
}

// Execute carries out one attempt.
func (r Registry) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	if x := r[a.Kind]; x != nil {
		return x.Execute(ctx, a)
	}
	ans := Answer(a)
	ans.StartedAt = event.At(time.Now())
	Fail(&ans, &event.Error{Kind: event.Fatal, Reason: event.ReasonStart, ExitCode: -1,
		Message: fmt.Sprintf("this release of flowrun cannot carry out an attempt of kind %q", a.Kind)})
	return ans
}

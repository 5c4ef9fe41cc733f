package recall

import (
	"context"
	"time"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// Steps carries out the attempts of steps that write to the memory or search it. It is safe for concurrent use.
type Steps struct {
	open func(run string) (Memory, error)
}

var _ executor.Executor = (*Steps)(nil)

// NewSteps makes the executor of the kinds [event.RememberAttempt] and [event.RecallAttempt]. open is as in [New].
func NewSteps(open func(run string) (Memory, error)) *Steps { return &Steps{open} }

// Execute carries out one attempt.
func (x *Steps) Execute(ctx context.Context, attempt event.Attempt) event.AttemptFinished {
	a := &attempt
	ans := executor.Answer(attempt)
	ans.StartedAt, ans.Outcome = event.At(time.Now()), event.OK
	if ctx.Err() != nil {
		executor.Fail(&ans, executor.WasCancelled())
		return ans
	}
	if a.Timeout > 0 {
		var done func()
		ctx, done = context.WithTimeout(ctx, a.Timeout)
		defer done()
	}
	m, err := x.open(a.Run)
	if err == nil {
		if a.Kind == event.RememberAttempt {
			ans.Output, err = remember(ctx, m, a)
		} else {
			ans.Output, err = search(ctx, m, a)
		}
	}
	switch cause := context.Cause(ctx); {
	case err == nil:
	case cause == context.DeadlineExceeded:
		executor.Fail(&ans, &event.Error{Kind: event.Transient, Reason: event.ReasonTimeout, ExitCode: -1, Message: "the memory did not answer within " + a.Timeout.String()})
	case cause != nil:
		executor.Fail(&ans, executor.WasCancelled())
	default:
		ans.Warning = "it has no memory: " + clip(err)
		ans.Output = nothing(a)
	}
	return ans
}

// nothing is the output of a step where there is no memory.
func nothing(a *event.Attempt) value.Value {
	if a.Kind == event.RememberAttempt {
		return map[string]any{"id": nil, "known": false}
	}
	return map[string]any{"count": 0.0, "items": []any{}, "text": ""}
}

func remember(ctx context.Context, m Memory, a *event.Attempt) (value.Value, error) {
	q := a.Remember
	w := who(a)
	w.Agent = q.Agent
	id, known, err := m.Remember(ctx, Entry{Who: w, Key: a.Key, Scope: q.Scope, Learned: event.Learned{Text: q.Text, Lesson: q.Lesson, Context: q.Context,
		Observation: q.Observation, Type: q.Type, Tags: q.Tags, Importance: q.Importance}})
	if err != nil {
		return nil, err
	}
	return map[string]any{"id": id, "known": known}, nil
}

func search(ctx context.Context, m Memory, a *event.Attempt) (value.Value, error) {
	q := a.Recall
	w := who(a)
	w.Agent, w.Groups = q.Agent, q.Groups
	found, err := m.Search(ctx, Search{Who: w, Query: executor.Clip(q.Query, MaxQuery), Type: q.Type, Tag: q.Tag, K: q.K, Budget: q.Budget})
	if err != nil {
		return nil, err
	}
	items := make([]any, len(found.Items))
	for i, o := range found.Items {
		items[i] = o
	}
	return map[string]any{"count": float64(len(items)), "items": items, "text": found.Text}, nil
}

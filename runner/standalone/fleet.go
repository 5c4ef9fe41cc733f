package standalone

import (
	"context"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// Executors are what carries out attempts in this process, without a store and a service: for workers of runs that another host drives.
type Executors struct {
	executor.Registry
	judge    executor.Judge
	carriers *carriers
	service  *runner.Service
}

// OpenExecutors makes them. Logs of attempts go into logs, and store has the memories and worktrees of this machine. ask carries out operations on what runs share, for messages and benchmarks. They must be
// closed.
func OpenExecutors(logs, store string, ask func(context.Context, event.StoreRequest) (value.Value, error), o Options) (*Executors, error) {
	room, err := executor.MakeRoom()
	if err != nil && !o.AnyRoom {
		return nil, err
	}
	s, x, registry := newService(logs, store, room, o)
	s.AskBy(ask)
	return &Executors{registry, runner.Judge(), x, s}, nil
}

// Execute carries out an attempt of a run without secrets, with the memory of the run.
func (x *Executors) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	return x.service.ExecuteOpen(ctx, a)
}

// Service knows the runs and their memory. Its host is attached by Secret.
func (x *Executors) Service() *runner.Service { return x.service }

// Secret carries out attempts of runs that have secrets. host knows the runs.
func (x *Executors) Secret(host runner.Host) executor.Executor {
	x.service.Attach(host)
	return executor.Func(x.service.ExecuteAway)
}

// Began hears of an attempt; what it returns hears of its end, nil if the attempt was given back.
func (x *Executors) Began(a *event.Attempt) func(*event.AttemptFinished) {
	end := x.carriers.live.Begin(a)
	return func(f *event.AttemptFinished) {
		end()
		if f != nil {
			x.carriers.command.Settle(a.Run, []event.Event{{AttemptFinished: f}})
		}
	}
}

// Holds evaluates the condition of a breaker; see executor.Judge.
func (x *Executors) Holds(run string, condition *event.Late) (bool, error) {
	return x.judge.Holds(run, condition)
}

// Close ends what is under way.
func (x *Executors) Close() {
	x.service.CloseServed()
	x.carriers.close()
}

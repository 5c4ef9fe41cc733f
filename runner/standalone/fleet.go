package standalone

import (
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// Executors are what carries out attempts in this process, without a store and a service: for workers of runs that another host drives.
type Executors struct {
	executor.Registry
	carriers *carriers
	service  *runner.Service
}

// OpenExecutors makes them. Logs of attempts go into dir. They must be closed.
func OpenExecutors(dir string, o Options) (*Executors, error) {
	room, err := executor.MakeRoom()
	if err != nil && !o.AnyRoom {
		return nil, err
	}
	s, x, registry := newService(dir, room, o)
	return &Executors{registry, x, s}, nil
}

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

// Close ends what is under way.
func (x *Executors) Close() { x.carriers.close() }

package run

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/event"
)

// A called run can be there already: the run of an item goes on while one run of its loop ends and the next one begins. The next one adopts it: it
// asks the called run to tell it the end, and if that has ended, a worker reads the end.

// hearStart hears how the start of a called run went. more is true while the run is adopted.
func (d *drive) hearStart(c *call) (more bool, err error) {
	switch c.step {
	case 0:
		if err = c.started.Get(d.ctx, nil); !temporal.IsWorkflowExecutionAlreadyStartedError(err) {
			return false, err
		}
		c.step, c.started = 1, workflow.SignalExternalWorkflow(d.ctx, c.ask.Run, "", wire.Adopted, d.start.Header.Run)
		return true, nil
	case 1:
		if c.started.Get(d.ctx, nil) == nil {
			return false, nil
		}
		ctx := workflow.WithActivityOptions(d.ctx, workflow.ActivityOptions{TaskQueue: wire.ShareQueue(d.start.Store), ActivityID: d.name("end of " + c.ask.Run),
			StartToCloseTimeout: time.Minute, ScheduleToCloseTimeout: forever, RetryPolicy: &errandRetries})
		c.step, c.started = 2, workflow.ExecuteActivity(ctx, wire.EndOf, c.ask.Run)
		return true, nil
	}
	var b []byte
	var f event.ChildFinished
	if err = c.started.Get(d.ctx, &b); err == nil {
		err = wire.Decode(b, &f)
	}
	if err == nil {
		f.Run, f.Node = c.ask.Run, c.ask.Node
		delete(d.carried.Children, c.ask.Run)
		d.ChildEnded(f)
	}
	return false, err
}

// hearAdoption notes the run that wants to hear of the end of this one.
func (d *drive) hearAdoption() {
	for run := ""; d.adopted.ReceiveAsync(&run); {
		d.carried.Caller = run
	}
}

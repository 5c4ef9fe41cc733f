package temporal

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal/run"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/engine/temporal/work"
)

// detacher serves the detached attempts of a worker.
type detacher struct {
	*Host
	of    *work.Worker
	fatal func(error)

	once   sync.Once
	queue  string
	worker worker.Worker // nil: no attempt was detached
	err    error
}

// Look implements [work.Runs].
func (d *detacher) Look(ctx context.Context, id string) (ended, long bool, err error) {
	r, err := d.client.DescribeWorkflowExecution(ctx, id, "")
	if isNotFound(err) {
		return true, false, nil
	}
	info := r.GetWorkflowExecutionInfo()
	long = info.GetHistoryLength() >= int64(cmp.Or(d.options.Soft, run.Soft)) || info.GetHistorySizeBytes() >= run.SoftBytes
	return err == nil && info.GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING, long, err
}

// Queue implements [work.Runs]. What it serves takes no slot: the attempts themselves have theirs.
func (d *detacher) Queue() (string, error) {
	d.once.Do(func() {
		d.queue = wire.OfWorker + engine.NewID()
		w := worker.New(d.client, d.queue, worker.Options{MaxConcurrentActivityExecutionSize: detachedSlots, MaxConcurrentActivityTaskPollers: 2, DisableWorkflowWorker: true,
			MaxHeartbeatThrottleInterval: time.Second, DefaultHeartbeatThrottleInterval: time.Second, WorkerStopTimeout: stopDetached, OnFatalError: d.fatal})
		w.RegisterActivityWithOptions(d.of.Rejoin, activity.RegisterOptions{Name: wire.Rejoin})
		if err := w.Start(); err != nil {
			d.err = fmt.Errorf("the queue %s: %w", d.queue, err)
			return
		}
		d.worker = w
	})
	return d.queue, d.err
}

// Complete implements [work.Runs].
func (d *detacher) Complete(ctx context.Context, token, answer []byte) (gone bool, err error) {
	err = d.client.CompleteActivity(ctx, token, answer, nil)
	return isNotFound(err), err
}

// stop ends what serves detached attempts, once their workers have stopped.
func (d *detacher) stop() {
	d.once.Do(func() {})
	if d.worker != nil {
		d.worker.Stop()
	}
}

const (
	// detachedSlots is how many detached attempts a worker has at most, whatever its slots are.
	detachedSlots = 1000
	// stopDetached is how long the answers of attempts that a worker has given back may take to reach the server.
	stopDetached = 5 * time.Second
)

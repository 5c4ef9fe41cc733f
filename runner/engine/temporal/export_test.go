package temporal

import (
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/worker"

	"github.com/flowrun/flowrun/runner/engine/temporal/run"
	"github.com/flowrun/flowrun/runner/journal"
)

// Replay runs the workflow of an execution again over its history, without a server, and returns the batches that it makes. earlier are those of the
// executions before. The error wraps [engine.ErrDiverged] if this release asks the server for other things than the history has.
func Replay(o Options, all *history.History, earlier []journal.Batch) ([]journal.Batch, error) {
	return (&Host{options: o}).replay(all, earlier)
}

// ServeDecisions starts a worker that makes the decisions of runs, and takes none of their attempts.
func (h *Host) ServeDecisions() (stop func(), err error) {
	w := worker.New(h.client, h.options.Queue, worker.Options{LocalActivityWorkerOnly: true})
	h.register(w, &run.Host{})
	return w.Stop, w.Start()
}

package temporal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/journal"
)

// An execution begins with the state that the one before has left. The layout of a state is that of a release, and another release makes the state
// anew: it replays the earlier executions, as the host of a store replays a journal behind an old snapshot.

// past are the batches of earlier executions, once they are read.
type past struct {
	batches []journal.Batch
	err     error
	done    chan struct{}
}

const (
	// readEarlier bounds how long earlier executions are read.
	readEarlier = 10 * time.Minute
	// decisionWaits is how long a decision waits for them: half as long as the detector of deadlocks. The server asks for the decision again.
	decisionWaits = 5 * time.Second
)

// earlier returns the batches of the executions of a run from first to last, for a decision. They are read once, however many decisions wait.
func (h *Host) earlier(run, first, last string) ([]journal.Batch, error) {
	h.mu.Lock()
	p := h.pasts[last]
	if p == nil {
		p = &past{done: make(chan struct{})}
		if h.pasts == nil {
			h.pasts = map[string]*past{}
		}
		h.pasts[last] = p
		go func() {
			defer close(p.done)
			ctx, cancel := context.WithTimeout(context.Background(), readEarlier)
			defer cancel()
			p.batches, p.err = h.replayThrough(ctx, run, first, last)
		}()
	}
	h.mu.Unlock()
	select {
	case <-p.done:
		h.mu.Lock()
		delete(h.pasts, last)
		h.mu.Unlock()
		return p.batches, p.err
	case <-time.After(decisionWaits):
		return nil, errors.New("they are being read: the server asks for the decision once more")
	}
}

// replayThrough replays the executions of a run from first to last.
func (h *Host) replayThrough(ctx context.Context, run, first, last string) (batches []journal.Batch, err error) {
	for id := first; ; {
		x, err := h.replayed(ctx, run, id, 0, batches)
		if isNotFound(err) {
			err = fmt.Errorf("%w: the server has removed an execution after the retention of the namespace", engine.ErrNoRun)
		}
		if err != nil {
			return nil, err
		}
		if batches = append(batches, x.batches...); id == last {
			return batches, nil
		}
		if id = x.next; id == "" {
			return nil, fmt.Errorf("execution %s does not come after execution %s", last, first)
		}
	}
}

package run

import (
	"cmp"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
)

const (
	abandon         = enums.PARENT_CLOSE_POLICY_ABANDON
	rejectDuplicate = enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE
)

// tooLarge is the reason of the cancel of a run whose state the server does not take.
const tooLarge = "the state of the run is larger than what an execution on Temporal can hand to the next one"

// awaitsCancels is the number of the rules from which on an execution waits for the cancels of called runs: the server does not send what an execution that
// has ended has asked it to send.
const awaitsCancels = 3

// softLength is the length of a history from which on an execution continues as new.
func (h *Host) softLength() int { return cmp.Or(h.Soft, Soft) }

// continueAsNew returns the error that ends an execution whose history is long and lets the next one go on, if nothing is handed out and
// nothing is queued. Runs that this one called, and attempts that are detached, go on meanwhile.
func (d *drive) continueAsNew() error {
	info := workflow.GetInfo(d.ctx)
	length, size, soft := info.GetCurrentHistoryLength(), info.GetCurrentHistorySize(), d.softLength()
	if length < soft && size < SoftBytes || d.ends {
		return nil
	}
	if !d.full && (length >= hardFactor*soft || size >= HardBytes) {
		d.full = true
		d.SetWindow(engine.Window{Attempts: -1, Children: -1}) // what is ready waits for the next execution
	}
	if d.onlyWatches() {
		d.full = true
		d.SetWindow(engine.Window{Attempts: -1, Children: -1})
		for _, f := range d.flights {
			if !f.left {
				f.left = true
				f.cancel()
			}
		}
	}
	if len(d.flights) > 0 || len(d.leaving) > 0 || len(d.recalls) > 0 || len(d.calls) > 0 || len(d.held) > 0 || len(d.cancels) > 0 || d.isAsking() {
		return nil
	}
	next := d.start
	next.Carried = d.carried
	state, err := d.Fold().State()
	if err != nil {
		return err
	}
	if next.Carried.State, err = wire.Compress(nil, state); err != nil {
		return err
	}
	next.Carried.Number++
	next.First = d.Session.Start().First
	arg, err := wire.Encode(next)
	if err != nil {
		return err
	}
	if len(arg) > d.most(wire.MaxPayload) {
		d.ends = true
		d.SetWindow(engine.Window{Attempts: Window, Children: Window})
		d.cancel(tooLarge)
		return nil
	}
	return workflow.NewContinueAsNewError(d.ctx, wire.Workflow, arg)
}

// onlyWatches reports whether nothing is handed out but attempts that watch sources. They would last for hours.
func (d *drive) onlyWatches() bool {
	for _, f := range d.flights {
		if !f.IsWatch() {
			return false
		}
	}
	return len(d.calls) == 0 && len(d.held) == 0 && !d.isAsking()
}

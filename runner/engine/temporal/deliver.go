package temporal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"

	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
)

const (
	// deliverers is how many signals a delivery sends at once.
	deliverers = 8
	// signalTimeout bounds one signal, with the repeats of the client: the server hears meanwhile that the worker lives.
	signalTimeout = time.Minute
)

// deliver is the activity that sends the messages of what runs share to many runs. It begins where the worker before it was heard of last. The server may
// repeat it: runs pass over the messages that they have heard.
func (h *Host) deliver(ctx context.Context, arg []byte) error {
	var d wire.Delivery
	if err := wire.Decode(arg, &d); err != nil {
		return err
	}
	begins := 0
	if activity.HasHeartbeatDetails(ctx) {
		_ = activity.GetHeartbeatDetails(ctx, &begins) // else it begins anew
	}
	var reached atomic.Int64
	reached.Store(int64(begins))
	ctx, cancel := beat(ctx, func() any { return reached.Load() })
	defer cancel()
	for ; begins < len(d.Parcels); begins += deliverers {
		reached.Store(int64(begins))
		errs := make([]error, min(deliverers, len(d.Parcels)-begins))
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() { errs[i] = h.sendParcel(ctx, &d, begins+i) })
		}
		if all.Wait(); errors.Join(errs...) != nil {
			return errors.Join(errs...)
		}
	}
	return nil
}

// sendParcel sends one parcel. A run that has ended hears nothing, and neither does one that can take no more.
func (h *Host) sendParcel(ctx context.Context, d *wire.Delivery, n int) error {
	run, p := d.Parcel(n)
	body, err := wire.Encode(&p)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, signalTimeout)
	defer cancel()
	err = h.client.SignalWorkflow(ctx, run, "", wire.Parcels, body)
	if isNotFound(err) || errors.As(err, new(*serviceerror.InvalidArgument)) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("run %s: %w", run, err)
	}
	return nil
}

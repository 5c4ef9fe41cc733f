package temporal_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine/temporal"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// TestServerHiccup cuts a worker off from the server in the middle of an attempt, for longer than the SDK waits for the answer to a heartbeat. The
// attempt goes on, and is carried out once, and the run is followed to its end.
func TestServerHiccup(t *testing.T) {
	needServer(t)
	const cut = 4 * time.Second
	var mu sync.Mutex
	var calls int
	var until time.Time
	h := dial(t, temporal.Options{Machines: &runner.Programs{}, Tune: func(o *client.Options) {
		o.ConnectionOptions.DialOptions = append(o.ConnectionOptions.DialOptions, grpc.WithChainUnaryInterceptor(
			func(ctx context.Context, method string, in, out any, c *grpc.ClientConn, call grpc.UnaryInvoker, opts ...grpc.CallOption) error {
				mu.Lock()
				away := time.Now().Before(until)
				mu.Unlock()
				if away {
					return status.Error(codes.Unavailable, "away")
				}
				return call(ctx, method, in, out, c, opts...)
			}))
	}})
	serve(t, h, executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
		mu.Lock()
		calls++
		until = time.Now().Add(cut)
		mu.Unlock()
		f := executor.Answer(a)
		f.Outcome = event.OK
		select {
		case <-time.After(cut + 2*time.Second):
		case <-ctx.Done():
			executor.Fail(&f, executor.WasCancelled())
		}
		return f
	}), 1)
	id, err := h.Start(t.Context(), begin(parse(t, chain(1))))
	if err != nil {
		t.Fatal(err)
	}
	end, err := h.Drive(t.Context(), id, nil)
	if err != nil {
		t.Fatal(err)
	}
	if end.Status != event.Succeeded || calls != 1 {
		t.Errorf("the run ended %s: %v; the attempt was carried out %d times", end.Status, end.Error, calls)
	}
}

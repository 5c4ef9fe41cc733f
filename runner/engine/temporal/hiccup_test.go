package temporal_test

import (
	"context"
	"path"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
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

// TestAskedWorkerDies asks what runs share while the worker dies that has the question: the server says that the question is cancelled. It is asked again.
func TestAskedWorkerDies(t *testing.T) {
	needServer(t)
	var asked atomic.Int64
	h := dial(t, temporal.Options{Store: engine.NewID(), Machines: &runner.Programs{}, Tune: func(o *client.Options) {
		o.ConnectionOptions.DialOptions = append(o.ConnectionOptions.DialOptions, grpc.WithChainUnaryInterceptor(
			func(ctx context.Context, method string, in, out any, c *grpc.ClientConn, call grpc.UnaryInvoker, opts ...grpc.CallOption) error {
				if path.Base(method) == "QueryWorkflow" && asked.Add(1) == 1 {
					return status.Error(codes.Canceled, "context canceled")
				}
				return call(ctx, method, in, out, c, opts...)
			}))
	}})
	serve(t, h, executor.Func(func(_ context.Context, a event.Attempt) event.AttemptFinished { return executor.Answer(a) }), 1)
	if _, err := h.Ask(t.Context(), event.StoreRequest{Emit: &event.EmitRequest{Name: "go"}}); err != nil {
		t.Fatal(err)
	}
	v, err := h.Ask(t.Context(), event.StoreRequest{Events: true})
	if list, _ := v.([]any); err != nil || len(list) != 1 || asked.Load() != 2 {
		t.Errorf("after %d questions there are %d events, want 1 after 2 (%v)", asked.Load(), len(list), err)
	}
}

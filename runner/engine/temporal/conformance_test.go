package temporal_test

import (
	"context"
	"errors"
	"path"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/engine/temporal"
	"github.com/flowrun/flowrun/runner/engine/temporal/work"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/journal"
)

// TestConformance is the suite of all hosts on a real server. A process serves its queue while it follows a run.
func TestConformance(t *testing.T) {
	needServer(t)
	enginetest.Run(t, enginetest.Harness{Kind: enginetest.Blocks, Unlike: unlike, NewStore: func(*testing.T) enginetest.Store {
		return office{engine.NewID()}
	}})
}

const (
	early = "a run that is cancelled before a worker has taken it says so in its first event"
	slow  = "TestKilledWorkers kills real processes; here a process takes too long to die"
)

var unlike = map[string]string{
	"a cancel waits for a driver":                               early,
	"a cancel while nobody drives starts nothing again":         early,
	"another machine is noticed":                                "a run has no digest before a worker has taken it: see TestOtherHistories",
	"a child that is there already is the one that is meant":    "a call whose run is there already fails",
	"batches are bounded by size":                               "an attempt is given at most wire.MaxTask bytes, and its answer has at most wire.MaxAnswer",
	"an inbox is bounded":                                       "nothing counts the messages that wait: the server has a bound of its own",
	"a crash at any commit loses nothing":                       slow,
	"a crash at any commit of parent or child loses nothing":    slow,
	"a crash at any commit of a cancel with a child":            slow,
	"a message arrives once, whatever crashes":                  slow,
	"a start is durable, and one however often it is asked for": "a run has no journal before a worker has taken it",
	"a stop keeps timers":                                       "the journal does not tell of another worker: nobody owns a run",
}

// office is a task queue.
type office struct{ queue string }

func (office) Advance(d time.Duration) {}
func (office) Pass(d time.Duration)    { time.Sleep(d) }

func (o office) Open(t *testing.T, f engine.Factory, x executor.Executor) enginetest.Host {
	p := &process{executor: x, died: make(chan struct{})}
	p.Host = dial(t, temporal.Options{Queue: o.queue, Machines: suiteMachines{f}, Externals: enginetest.Externals, Heartbeat: 3 * time.Second, Task: 3 * time.Second, Poll: 20 * time.Millisecond,
		Tune: func(c *client.Options) {
			c.ConnectionOptions.DialOptions = append(c.ConnectionOptions.DialOptions, grpc.WithChainUnaryInterceptor(p.intercept))
		}})
	t.Cleanup(p.Close)
	return p
}

// suiteMachines are those of the suite, of which no run is long.
type suiteMachines struct{ make engine.Factory }

func (m suiteMachines) Machine(h journal.Header, definition []byte) (engine.Machine, error) {
	return m.make(h, definition)
}

func (suiteMachines) Restore(journal.Header, []byte, []byte) (engine.Machine, error) {
	return nil, errors.New("the suite continues no run")
}

// process is a process with a worker.
type process struct {
	*temporal.Host
	executor executor.Executor
	died     chan struct{}

	mu       sync.Mutex
	drives   int
	stop     context.CancelFunc
	stopped  chan struct{}
	commits  int // until the process dies; 0: it lives
	after    bool
	is, gone bool // dead, closed
}

// errDead is not one after which the SDK asks again.
var errDead = status.Error(codes.PermissionDenied, enginetest.ErrCrashed.Error())

// intercept lets the process die at a commit: the server does not hear of it, or the process does not hear of the server.
func (p *process) intercept(ctx context.Context, method string, in, out any, c *grpc.ClientConn, call grpc.UnaryInvoker, o ...grpc.CallOption) error {
	select {
	case <-p.died:
		return errDead
	default:
	}
	last := false
	switch path.Base(method) {
	case "RespondWorkflowTaskCompleted", "RespondActivityTaskCompleted":
		p.mu.Lock()
		if p.commits > 0 {
			p.commits--
			last = p.commits == 0
		}
		p.mu.Unlock()
	}
	if last && !p.after {
		p.Crash()
		return errDead
	}
	err := call(ctx, method, in, out, c, o...)
	if last {
		p.Crash()
		return errDead
	}
	return err
}

func (p *process) CrashAt(n int, after bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commits, p.after = n, after
}

func (p *process) BreakAt(int) {}

func (p *process) Crash() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.is {
		p.is = true
		close(p.died)
	}
}

func (p *process) Close() {
	p.mu.Lock()
	if p.gone {
		p.mu.Unlock()
		return
	}
	p.gone = true
	stop, stopped, dead := p.stop, p.stopped, p.is
	p.mu.Unlock()
	if stop != nil && !dead {
		stop()
		<-stopped
	}
}

// Drive serves the queue until the run has ended, or ctx is done.
func (p *process) Drive(ctx context.Context, run string, w engine.Watcher) (event.End, error) {
	p.begin()
	defer p.end()
	type result struct {
		end event.End
		err error
	}
	done := make(chan result, 1)
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		end, err := p.Host.Drive(inner, run, w)
		done <- result{end, err}
	}()
	select {
	case r := <-done:
		return r.end, r.err
	case <-p.died:
		cancel(enginetest.ErrCrashed)
		<-done
		return event.End{}, enginetest.ErrCrashed
	}
}

func (p *process) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drives++; p.drives > 1 || p.is {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	p.stop, p.stopped = stop, stopped
	go func() {
		defer close(stopped)
		p.Serve(ctx, &work.Worker{Executor: mortal{p}, Workspace: "/"}, temporal.WorkerOptions{Queues: []string{p.Queue()}, Slots: 200, Grace: time.Second})
	}()
}

func (p *process) end() {
	p.mu.Lock()
	p.drives--
	last, stop, stopped, dead := p.drives == 0, p.stop, p.stopped, p.is
	p.mu.Unlock()
	if last && stop != nil {
		if stop(); !dead {
			<-stopped
		}
	}
}

// mortal ends the attempts of a process that dies.
type mortal struct{ *process }

func (m mortal) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-m.died:
			cancel(enginetest.ErrCrashed)
		case <-inner.Done():
		}
	}()
	return m.executor.Execute(inner, a)
}

// Nothing is parked here.
func (p *process) DriveUntilParked(ctx context.Context, run string, w engine.Watcher) (event.End, error) {
	return p.Drive(ctx, run, w)
}
func (p *process) Wakeable(context.Context, int) ([]string, event.Time, error) { return nil, 0, nil }
func (p *process) Woken() <-chan struct{}                                      { return nil }

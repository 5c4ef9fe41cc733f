package temporal_test

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"maps"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/engine/temporal"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/engine/temporal/work"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/journal"
)

// TestConformance is the suite of all hosts on a real server. A process serves its queue while it follows a run. Its tests wait for the server most
// of the time, and can run at once; -short kills processes at every third commit alone:
//
//	go test ./runner/engine/temporal -run TestConformance -temporal.server 127.0.0.1:7233 -parallel 8 -short -timeout 30m
func TestConformance(t *testing.T) {
	needServer(t)
	enginetest.Run(t, enginetest.Harness{Kind: enginetest.Blocks | enginetest.Shares | enginetest.Fleet, Parallel: true, NewStore: newOffice})
}

// The time of the suite's runs goes fast, from a moment on. A busy computer needs a slower world.
var fast = flag.Int("temporal.fast", 10, "how much faster than real time the time of the runs of TestConformance goes")

// How long the server waits for a worker of the suite that has died.
const (
	suiteHeartbeat = 8 * time.Second
	suiteTask      = 3 * time.Second
)

var suiteBegan = time.Now()

// office is a store. Each of its processes has a task queue of its own, because the suite's processes carry attempts out in different ways. It takes
// over those of the processes that are gone: as its own when it begins, and later, with their executors, while it drives a run.
type office struct {
	name      string
	client    client.Client // that does not die
	mu        sync.Mutex
	processes []*process
}

func newOffice(t *testing.T) enginetest.Store {
	c, err := client.Dial(client.Options{HostPort: *server, Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &office{name: engine.NewID(), client: c}
}

func (*office) Advance(d time.Duration) {}
func (*office) Pass(d time.Duration)    { time.Sleep(d / time.Duration(*fast)) }

func (o *office) Open(t *testing.T, f engine.Factory, x executor.Executor) enginetest.Host {
	p := &process{office: o, executor: x, parked: map[string]int64{}}
	p.life, p.die = context.WithCancel(context.Background())
	p.Host = dial(t, temporal.Options{Store: o.name, Group: enginetest.Group, Events: enginetest.Events,
		Clock: wire.Clock{From: suiteBegan, Times: *fast}, Sweep: 3 * time.Second, Machines: suiteMachines{f}, Externals: enginetest.Externals,
		Heartbeat: suiteHeartbeat, Task: suiteTask, Poll: 20 * time.Millisecond, Leave: 50 * time.Millisecond,
		Tune: func(c *client.Options) {
			c.ConnectionOptions.DialOptions = append(c.ConnectionOptions.DialOptions, grpc.WithChainUnaryInterceptor(p.intercept))
		}})
	o.mu.Lock()
	defer o.mu.Unlock()
	p.queues = []string{p.Queue()}
	for _, other := range o.processes {
		if other.isGone() {
			p.queues = append(p.queues, other.Queue())
		}
	}
	o.processes = append(o.processes, p)
	ctx, stop := context.WithCancel(context.Background())
	var once sync.Once
	done := make(chan error, 1)
	go func() { done <- p.ServeShared(ctx) }()
	p.keeps = func() {
		once.Do(func() {
			stop()
			<-done
		})
	}
	t.Cleanup(p.keeps)
	t.Cleanup(p.Close)
	return p
}

// look asks the server for the length of a history, and whether something of the workflow is under way.
func (o *office) look(ctx context.Context, id string) (length int64, decides, works, ended bool, err error) {
	d, err := o.client.DescribeWorkflowExecution(ctx, id, "")
	info := d.GetWorkflowExecutionInfo()
	return info.GetHistoryLength(), d.GetPendingWorkflowTask() != nil, len(d.GetPendingActivities()) > 0,
		err == nil && info.GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING, err
}

const (
	glance = 40 * time.Millisecond
	calm   = 5 // glances, in which nothing happens in a workflow that is at rest
)

// rest waits until nothing happens in a workflow any more. attempts says that those under way count.
func (o *office) rest(ctx context.Context, id string, attempts bool) (length int64) {
	for quiet, needs := 0, calm; quiet < needs && ctx.Err() == nil; {
		now, decides, works, ended, err := o.look(ctx, id)
		if quiet++; err != nil || now != length || decides || attempts && works {
			if !attempts && length != 0 { // messages are on their way, one after the other
				needs = 5 * calm
			}
			length, quiet = now, 0
		}
		if ended || err != nil && id == wire.ShareID(o.name) { // nothing is shared yet
			return now
		}
		select {
		case <-time.After(glance):
		case <-ctx.Done():
		}
	}
	return length
}

// takeOver lets those that drive runs serve the queue of a process that has died.
func (o *office) takeOver(dead *process) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, p := range o.processes {
		p.mu.Lock()
		if p.stop != nil && !p.is && !slices.Contains(p.queues, dead.Queue()) {
			p.serve([]string{dead.Queue()}, dead.executor)
		}
		p.mu.Unlock()
	}
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
	office   *office
	executor executor.Executor
	life     context.Context // until the process dies
	die      context.CancelFunc
	queues   []string
	keeps    func() // ends what it serves of the store

	mu       sync.Mutex
	drives   int
	serving  context.Context // while it drives a run
	stop     context.CancelFunc
	workers  *sync.WaitGroup
	commits  int // until the process dies; 0: it lives
	after    bool
	is, gone bool             // dead, closed
	parked   map[string]int64 // runs, with the lengths of their histories
}

func (p *process) isGone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.is || p.gone
}

// errDead is not one after which the SDK asks again.
var errDead = status.Error(codes.PermissionDenied, enginetest.ErrCrashed.Error())

// intercept lets the process die at a commit: the server does not hear of it, or the process does not hear of the server. What it asks for meanwhile is
// cut off, as the connections of a process are that is killed.
func (p *process) intercept(ctx context.Context, method string, in, out any, c *grpc.ClientConn, call grpc.UnaryInvoker, o ...grpc.CallOption) error {
	if p.life.Err() != nil {
		return errDead
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
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.life, cancel)()
	err := call(ctx, method, in, out, c, o...)
	for i := 0; i < 20 && p.life.Err() == nil && errors.As(serviceerror.FromStatus(status.Convert(err)), new(*serviceerror.NamespaceNotFound)); i++ {
		time.Sleep(100 * time.Millisecond) // a busy server does not find its only namespace
		err = call(ctx, method, in, out, c, o...)
	}
	if last {
		p.Crash()
	}
	if p.life.Err() != nil {
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
	was := p.is
	p.is = true
	p.mu.Unlock()
	if !was {
		p.die()
		p.office.takeOver(p)
	}
}

func (p *process) Close() {
	p.mu.Lock()
	if p.gone {
		p.mu.Unlock()
		return
	}
	p.gone = true
	stop, workers, dead := p.stop, p.workers, p.is
	p.mu.Unlock()
	if stop != nil && !dead {
		stop()
		workers.Wait()
	}
	if !dead {
		p.keeps()
	}
}

// Drive serves the queue until the run has ended, or ctx is done.
func (p *process) Drive(ctx context.Context, run string, w engine.Watcher) (event.End, error) {
	if _, _, _, ended, _ := p.office.look(ctx, run); !ended {
		p.begin()
		defer p.end()
	}
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
		if p.life.Err() != nil && r.err != nil {
			return event.End{}, enginetest.ErrCrashed
		}
		return r.end, r.err
	case <-p.life.Done():
		cancel(enginetest.ErrCrashed)
		<-done
		return event.End{}, enginetest.ErrCrashed
	}
}

func (p *process) begin() {
	o := p.office
	o.mu.Lock()
	defer o.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drives++; p.drives > 1 || p.is {
		return
	}
	p.workers = new(sync.WaitGroup)
	p.serving, p.stop = context.WithCancel(context.Background())
	p.serve(p.queues, p.executor)
	for _, other := range o.processes {
		if other != p && !slices.Contains(p.queues, other.Queue()) && other.isGone() {
			p.serve([]string{other.Queue()}, other.executor)
		}
	}
}

// serve serves queues until the process drives no run.
func (p *process) serve(queues []string, x executor.Executor) {
	ctx := p.serving
	p.workers.Go(func() {
		p.Serve(ctx, &work.Worker{Executor: mortal{p, x}, Workspace: "/"}, temporal.WorkerOptions{Queues: queues, Slots: 200, Grace: time.Second})
	})
}

func (p *process) end() {
	p.mu.Lock()
	p.drives--
	stop, workers, dead := p.stop, p.workers, p.is
	last := p.drives == 0 && stop != nil
	if last {
		p.stop = nil
	}
	p.mu.Unlock()
	if last {
		if stop(); !dead {
			workers.Wait()
		}
	}
}

// mortal ends the attempts of a process that dies.
type mortal struct {
	*process
	executor.Executor
}

func (m mortal) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(m.life, func() { cancel(enginetest.ErrCrashed) })()
	return m.Executor.Execute(inner, a)
}

// Holds implements executor.Judge.
func (m mortal) Holds(run string, condition *event.Late) (bool, error) {
	return m.Executor.(executor.Judge).Holds(run, condition)
}

// awaitRest waits until what runs share is at rest. Once the process has died, that may never be: nobody else serves it.
func (p *process) awaitRest(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.life, cancel)()
	if p.office.rest(ctx, wire.ShareID(p.office.name), false); p.life.Err() != nil {
		return enginetest.ErrCrashed
	}
	return nil
}

// DriveUntilParked drives a run until it has ended, or nothing happens any more. Nobody drives it then.
func (p *process) DriveUntilParked(ctx context.Context, run string, w engine.Watcher) (event.End, error) {
	if err := p.awaitRest(ctx); err != nil {
		return event.End{}, err
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var seen atomic.Uint64 // events
	watch := func(list []event.Event, r *event.Reaction, replayed bool) {
		if w != nil {
			w(list, r, replayed)
		}
		seen.Store(list[len(list)-1].Seq)
	}
	length := make(chan int64, 1)
	go func() {
		length <- p.office.rest(inner, run, true)
		for inner.Err() == nil && seen.Load() < p.last(inner, run) { // a busy computer shows later what has happened
			time.Sleep(glance)
		}
		if _, _, _, ended, err := p.office.look(inner, run); err == nil && !ended {
			cancel(&engine.Parked{Run: run})
		}
	}()
	end, err := p.Drive(inner, run, watch)
	p.mu.Lock()
	defer p.mu.Unlock()
	if delete(p.parked, run); errors.Is(err, engine.ErrParked) {
		p.parked[run] = <-length
	}
	return end, err
}

// last is the number of the last event of a run.
func (p *process) last(ctx context.Context, run string) (n uint64) {
	_, _, _ = p.Journal(ctx, run, func(b journal.Batch) error {
		n = b.Last()
		return nil
	})
	return n
}

// Wakeable returns the runs that were parked, and in which something has happened since.
func (p *process) Wakeable(ctx context.Context, _ int) (runs []string, next event.Time, err error) {
	p.mu.Lock()
	parked := maps.Clone(p.parked)
	p.mu.Unlock()
	if err := p.awaitRest(ctx); err != nil {
		return nil, 0, err
	}
	for run, length := range parked {
		now, decides, _, ended, err := p.office.look(ctx, run)
		if err != nil {
			return nil, 0, err
		}
		if now != length || decides || ended {
			runs = append(runs, run)
		}
	}
	slices.Sort(runs)
	return runs, event.At(time.Now()), nil
}

func (p *process) Woken() <-chan struct{} { return nil }

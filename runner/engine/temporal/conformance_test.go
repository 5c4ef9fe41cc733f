package temporal_test

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"
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
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/engine/temporal/work"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/journal"
)

// TestConformance is the suite of all hosts on a real server. A process serves its queue while it follows a run.
func TestConformance(t *testing.T) {
	needServer(t)
	enginetest.Run(t, enginetest.Harness{Kind: enginetest.Blocks | enginetest.Shares, Unlike: unlike, NewStore: func(*testing.T) enginetest.Store {
		return &office{name: engine.NewID()}
	}})
}

const (
	early = "a run that is cancelled before a worker has taken it says so in its first event"
	slow  = "TestKilledWorkers and TestSharedKilled kill real processes; here a process takes too long to die"
	queue = "each process of the suite has a queue, and a run holds what it has until a worker of its queue finds out that the attempt was lost"
)

var unlike = map[string]string{
	"a cancel waits for a driver":                                                        early,
	"a cancel while nobody drives starts nothing again":                                  early,
	"another machine is noticed":                                                         "a run has no digest before a worker has taken it: see TestOtherHistories",
	"a child that is there already is the one that is meant":                             "a call whose run is there already fails",
	"batches are bounded by size":                                                        "an attempt is given at most wire.MaxTask bytes, and its answer has at most wire.MaxAnswer",
	"an inbox is bounded":                                                                "nothing counts the messages that wait: the server has a bound of its own",
	"a crash at any commit loses nothing":                                                slow,
	"a crash at any commit of parent or child loses nothing":                             slow,
	"a crash at any commit of a cancel with a child":                                     slow,
	"a message arrives once, whatever crashes":                                           slow,
	"a start is durable, and one however often it is asked for":                          "a run has no journal before a worker has taken it",
	"runs of a group take turns, in order":                                               "the time of the server goes on while a crew looks at one run after another: see TestSharedGroup",
	"what concerns a loop wakes the runs that listen, as few messages":                   "a signal that was sent cannot be taken back for a newer one",
	"what a dead driver held goes to the next":                                           queue,
	"a probe that dies with its driver is lost, and the next one probes after the reset": queue,
	"a crash at any commit loses no grant of a rate limit or a breaker":                  slow,
	"what runs share is changed once, whatever crashes":                                  slow,
	"an item has one winner, and its work is done once, whatever crashes":                slow,
	"work that is handed over and its message are there together, whatever crashes":      slow,
	"a message reaches its channels, and of equal ones the first, whatever crashes":      slow,
	"an event reaches the runs that wait for it, once, whatever crashes":                 slow,
	"an event starts one run for each subscription, whatever crashes":                    slow,
	"the parties of a point go on together, and one is the last, whatever crashes":       slow,
	"a dead process holds no turn":                                                       "a run keeps its turn while no worker drives it: nobody knows on a server that workers are away",
	"a run that comes back waits for the run that has the turn":                          "a run keeps its turn while no worker drives it: nobody knows on a server that workers are away",
	"events that an inbox has no room for take the place of older ones":                  "nothing counts the messages that wait: the server has a bound of its own",
	"a stop keeps timers":                                                                "the journal does not tell of another worker: nobody owns a run",
}

// The time of the suite's runs goes fast, from a moment on.
const fast = 10

var suiteBegan = time.Now()

// office is a store. Each of its processes has a task queue of its own, and takes over those of the processes that are gone when it begins: the
// suite's processes carry attempts out in different ways.
type office struct {
	name      string
	mu        sync.Mutex
	processes []*process
}

func (*office) Advance(d time.Duration) {}
func (*office) Pass(d time.Duration)    { time.Sleep(d / fast) }

func (o *office) Open(t *testing.T, f engine.Factory, x executor.Executor) enginetest.Host {
	p := &process{executor: x, died: make(chan struct{})}
	p.Host = dial(t, temporal.Options{Store: o.name, Group: enginetest.Group, Events: enginetest.Events,
		Clock: wire.Clock{From: suiteBegan, Times: fast}, Sweep: 3 * time.Second, Machines: suiteMachines{f}, Externals: enginetest.Externals, Heartbeat: 8 * time.Second,
		Task: 3 * time.Second, Poll: 20 * time.Millisecond,
		Tune: func(c *client.Options) {
			c.ConnectionOptions.DialOptions = append(c.ConnectionOptions.DialOptions, grpc.WithChainUnaryInterceptor(p.intercept))
		}})
	o.mu.Lock()
	defer o.mu.Unlock()
	p.queues = []string{p.Queue()}
	for _, other := range o.processes {
		other.mu.Lock()
		if other.is || other.gone {
			p.queues = append(p.queues, other.Queue())
		}
		other.mu.Unlock()
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
	queues   []string
	keeps    func() // ends what it serves of the store

	mu       sync.Mutex
	drives   int
	stop     context.CancelFunc
	stopped  chan struct{}
	commits  int // until the process dies; 0: it lives
	after    bool
	is, gone bool              // dead, closed
	serves   bool              // until it closes
	parked   map[string]uint64 // runs, with the numbers of their last events
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
	if !dead {
		p.keeps()
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
		p.Serve(ctx, &work.Worker{Executor: mortal{p}, Workspace: "/"}, temporal.WorkerOptions{Queues: p.queues, Slots: 200, Grace: time.Second})
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

// Holds implements executor.Judge.
func (m mortal) Holds(run string, condition *event.Late) (bool, error) {
	return m.executor.(executor.Judge).Holds(run, condition)
}

// calm is how long nothing happens in a run that a crew takes for parked. It is driven on meanwhile.
const calm = 700 * time.Millisecond

// DriveUntilParked follows a run until it has ended, or nothing happens any more. The process serves its queue from then on.
func (p *process) DriveUntilParked(ctx context.Context, run string, w engine.Watcher) (event.End, error) {
	p.mu.Lock()
	serves := p.serves
	p.serves = true
	p.mu.Unlock()
	if !serves {
		p.begin() // until the process closes
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quiet := time.AfterFunc(3*calm, func() { cancel(&engine.Parked{Run: run}) })
	defer quiet.Stop()
	var last uint64
	end, err := p.Drive(inner, run, func(list []event.Event, r *event.Reaction, replayed bool) {
		quiet.Reset(calm)
		last = list[len(list)-1].Seq
		if w != nil {
			w(list, r, replayed)
		}
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.parked == nil {
		p.parked = map[string]uint64{}
	}
	if delete(p.parked, run); errors.Is(err, engine.ErrParked) {
		p.parked[run] = last
	}
	return end, err
}

// Wakeable returns the runs that were taken for parked, and in which something has happened since.
func (p *process) Wakeable(ctx context.Context, _ int) (runs []string, next event.Time, err error) {
	p.mu.Lock()
	parked := maps.Clone(p.parked)
	p.mu.Unlock()
	for run, last := range parked {
		news := errors.New("news")
		err := p.After(ctx, run, last, func(journal.Batch) error { return news })
		if errors.Is(err, news) {
			runs = append(runs, run)
		} else if err != nil {
			return nil, 0, err
		}
	}
	slices.Sort(runs)
	return runs, event.At(time.Now()), nil
}

func (p *process) Woken() <-chan struct{} { return nil }

// Package temporal is the host of machines on Temporal, as a client sees it: it starts runs, follows them, tells them to end, and reads them.
// Workers drive them: any worker with the task queue of a run drives it, and another goes on when that one dies.
//
// The journal of a run is read by a replay of its histories in this process, which needs no worker. What the runs of a namespace share is kept by a
// workflow of its own, which also has workers start the runs of events, routines and loops. [Refuse] says which programs are not carried.
//
// Package run is the workflow of runs, package share that of what they share, package work are the activities, package wire is what goes
// between. Enter at [Dial].
package temporal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal/payload"
	"github.com/flowrun/flowrun/runner/engine/temporal/run"
	"github.com/flowrun/flowrun/runner/engine/temporal/share"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/engine/temporal/work"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// DefaultQueue is the task queue of runs.
const DefaultQueue = "flowrun"

// Scheme begins the address of an engine: temporal://HOST:PORT/NAMESPACE?queue=NAME.
const Scheme = "temporal://"

// Options say where the server is. All but Machines may be empty.
type Options struct {
	HostPort  string
	Namespace string
	Queue     string // DefaultQueue
	Machines  run.Machines
	// Check, if set, refuses a run before it starts; see [Refuse].
	Check func(s *engine.Start) error
	// UsesMemory, if set, reports whether a run that starts may use the memory.
	UsesMemory func(s *engine.Start) (bool, error)
	// Externals are the kinds of messages that the machines know.
	Externals []event.ExternalKind
	// Store is the name of what the runs share that are started here, and that its workers serve; wire.DefaultStore. All runs of a namespace
	// share the same, whatever their queues.
	Store string
	// Group and Events say in which group a run is that begins, and for which events it waits: see local.Options. nil: none.
	Group  func(definition []byte, first event.RunStarted) (engine.Group, error)
	Events func(definition []byte, first event.RunStarted) ([]string, error)
	// Launch starts runs that events and moments of routines are to start, some at a time, and with loops those of registered loops. nil: workers of
	// this host start none.
	Launch func(ctx context.Context, loops bool) error
	// Clock is the time of runs: for tests.
	Clock wire.Clock
	// SoftShared and Sweep are those of [share.Host].
	SoftShared int
	Sweep      time.Duration
	// Soft is that of [run.Host].
	Soft int
	// Heartbeat is that of [run.Host].
	Heartbeat time.Duration
	// Task is how long a worker may take for a decision, before another one makes it; 0 means a minute.
	Task time.Duration
	// Converter makes and reads payloads; nil: they are as the SDK makes them. Reader is the same and writes nothing: for histories that are read.
	Converter, Reader converter.DataConverter
	// Artifacts is that of [run.Host], and Large too.
	Artifacts func(run string) event.Artifacts
	Large     bool
	// Worker says that workers serve on the connection. What they send is not compressed once more: that takes a fifth of their CPU, and as much of
	// the server's, while payloads are compressed where it is worth it.
	Worker bool
	// Poll is how often a run that is followed is looked at; 0 means 200 ms.
	Poll time.Duration
	// Leave is how long a worker that stops waits at most for what its open polls bring; 0 means 3 seconds.
	Leave time.Duration
	// Tune changes the options of the client.
	Tune func(*client.Options)
}

// Parse reads the address of an engine.
func Parse(address string) (o Options, err error) {
	u, err := url.Parse(address)
	query := url.Values{}
	if err == nil {
		query, err = url.ParseQuery(u.RawQuery)
	}
	queue := query.Get("queue")
	if err != nil || u.Scheme+"://" != Scheme || u.Hostname() == "" || u.Port() == "" || u.User != nil || u.Fragment != "" ||
		strings.Contains(strings.Trim(u.Path, "/"), "/") || u.RawQuery != "" && (len(query) != 1 || len(query["queue"]) != 1 || queue == "") {
		return o, fmt.Errorf("%q is not the address of an engine: write %sHOST:PORT/NAMESPACE or %[2]sHOST:PORT/NAMESPACE?queue=NAME", address, Scheme)
	}
	return Options{HostPort: u.Host, Namespace: cmp.Or(strings.Trim(u.Path, "/"), client.DefaultNamespace), Queue: queue}, nil
}

// Host is a connection to a server. It is safe for concurrent use, and must be closed.
type Host struct {
	options Options
	client  client.Client
	polls   *polls
	asker   *asker

	mu        sync.Mutex
	kept      map[string]*execution // executions that were replayed, by their ids
	keptBytes int
	pasts     map[string]*past     // earlier executions that are being read, by the last of them
	silence   map[string]time.Time // when the workers of a run did not answer
	unshared  atomic.Bool          // a reader looked for a long output, and there is no folder for them
}

// Dial connects to a server.
func Dial(ctx context.Context, o Options) (*Host, error) {
	o.Store = cmp.Or(o.Store, wire.DefaultStore)
	o.Queue, o.Namespace, o.Poll = cmp.Or(o.Queue, DefaultQueue), cmp.Or(o.Namespace, client.DefaultNamespace), cmp.Or(o.Poll, 200*time.Millisecond)
	c := client.Options{HostPort: o.HostPort, Namespace: o.Namespace, Logger: quiet, DataConverter: o.Converter}
	polls := &polls{atMost: cmp.Or(o.Leave, leaveFor)}
	c.ConnectionOptions.DialOptions = []grpc.DialOption{grpc.WithChainUnaryInterceptor(polls.intercept)}
	if o.Worker {
		c.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{}
	}
	if o.Tune != nil {
		o.Tune(&c)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, err := client.DialContext(ctx, c)
	if err != nil {
		return nil, unreached(&o, c.ConnectionOptions.TLS, err)
	}
	if err := checkNamespace(ctx, conn, &o); err != nil {
		conn.Close()
		return nil, err
	}
	h := &Host{options: o, client: conn, polls: polls}
	h.asker = &asker{host: h}
	return h, nil
}

// quiet drops what the SDK logs: what concerns a person is an error or stands in the journal.
var quiet log.Logger = log.NewStructuredLogger(slog.New(slog.DiscardHandler))

// Queue is the task queue of the runs that are started here.
func (h *Host) Queue() string { return h.options.Queue }

// StoreName is the name of what the runs share that are started here.
func (h *Host) StoreName() string { return h.options.Store }

// Close ends the connection.
func (h *Host) Close() error {
	h.client.Close()
	return nil
}

// WorkerOptions say what a worker serves.
type WorkerOptions struct {
	Queues []string // that of the address alone
	Slots  int      // attempts at once; 0 means 8
	// Grace is how long attempts may take to end when the worker stops.
	Grace time.Duration
	// Answer, if set, answers the questions of persons.
	Answer Answer
	// Memory, if set, is served to all runs of the store.
	Memory *MemoryOptions
}

// Serve drives runs and carries out attempts until ctx is done, and then gives back what it has.
func (h *Host) Serve(ctx context.Context, x *work.Worker, o WorkerOptions) error {
	if len(o.Queues) == 0 {
		o.Queues = []string{h.options.Queue}
	}
	if err := h.checkPayloads(ctx); err != nil {
		return err
	}
	if x.Shared == nil {
		x.Shared, x.Clock = h.asker, h.options.Clock
	}
	if x.PlaceOf == nil {
		x.PlaceOf = h.placeOf
	}
	if x.Heartbeat == nil {
		x.Heartbeat = h.heartbeat
	}
	var workers []worker.Worker
	var queues []string // those of workers
	fatal := make(chan error, 2*len(o.Queues)+4)
	detached := &detacher{Host: h, of: x, fatal: func(err error) { fatal <- err }}
	x.Runs = detached
	defer detached.stop() // after the others, whose attempts it answers for
	if o.Memory != nil {
		m, err := h.startMemory(ctx, x, o.Memory, func(err error) { fatal <- err })
		if err != nil {
			return err
		}
		defer m.Stop() // after the others, which ask it
	}
	keeper := h.keeper(func(err error) { fatal <- err })
	if err := keeper.Start(); err != nil {
		return fmt.Errorf("the queue %s: %w", wire.ShareQueue(h.options.Store), err)
	}
	defer h.stop([]worker.Worker{keeper}, []string{wire.ShareQueue(h.options.Store)}) // after the others, which ask it
	if err := h.tellRules(ctx); err != nil {
		return err
	}
	for _, queue := range o.Queues {
		w := worker.New(h.client, queue, worker.Options{
			MaxConcurrentActivityExecutionSize: cmp.Or(o.Slots, 8),
			MaxHeartbeatThrottleInterval:       time.Second, DefaultHeartbeatThrottleInterval: time.Second,
			DeadlockDetectionTimeout:     10 * time.Second, // an event of a large program takes more than the SDK's second
			WorkerStopTimeout:            cmp.Or(o.Grace, engine.DefaultStopGrace),
			OnFatalError:                 func(err error) { fatal <- err },
			StickyScheduleToStartTimeout: h.sticky(),
		})
		h.register(w, &run.Host{Earlier: h.earlier})
		w.RegisterActivityWithOptions(x.Attempt, activity.RegisterOptions{Name: wire.Attempt})
		if o.Answer != nil {
			w.RegisterWorkflowWithOptions(share.Question, workflow.RegisterOptions{Name: wire.Question})
			w.RegisterActivityWithOptions(o.Answer.respond, activity.RegisterOptions{Name: wire.Answering})
		}
		if err := w.Start(); err != nil {
			stopAll(workers)
			return fmt.Errorf("the queue %s: %w", queue, err)
		}
		workers, queues = append(workers, w), append(queues, queue)
		watcher := worker.New(h.client, wire.WatchQueue(queue), worker.Options{MaxConcurrentActivityExecutionSize: watchSlots, MaxConcurrentActivityTaskPollers: 1,
			MaxHeartbeatThrottleInterval: time.Second, DefaultHeartbeatThrottleInterval: time.Second, DisableWorkflowWorker: true,
			WorkerStopTimeout: time.Second, OnFatalError: func(err error) { fatal <- err }})
		watcher.RegisterActivityWithOptions(x.Attempt, activity.RegisterOptions{Name: wire.Attempt})
		if err := watcher.Start(); err != nil {
			stopAll(workers)
			return fmt.Errorf("the queue %s: %w", wire.WatchQueue(queue), err)
		}
		workers, queues = append(workers, watcher), append(queues, wire.WatchQueue(queue))
	}
	if x.Place != "" {
		w := worker.New(h.client, wire.PlaceQueue(x.Place), worker.Options{MaxConcurrentActivityExecutionSize: cmp.Or(o.Slots, 8), DisableWorkflowWorker: true,
			MaxHeartbeatThrottleInterval: time.Second, DefaultHeartbeatThrottleInterval: time.Second,
			WorkerStopTimeout: cmp.Or(o.Grace, engine.DefaultStopGrace), OnFatalError: func(err error) { fatal <- err }})
		w.RegisterActivityWithOptions(x.Attempt, activity.RegisterOptions{Name: wire.Attempt})
		if err := w.Start(); err != nil {
			stopAll(workers)
			return fmt.Errorf("the queue %s: %w", wire.PlaceQueue(x.Place), err)
		}
		workers, queues = append(workers, w), append(queues, wire.PlaceQueue(x.Place))
	}
	select {
	case <-ctx.Done():
		h.stop(workers, queues)
		return nil
	case err := <-fatal:
		stopAll(workers)
		return err
	}
}

// stop lets workers leave their queues, and stops them.
func (h *Host) stop(workers []worker.Worker, queues []string) {
	stopped := h.polls.leave(queues)
	stopAll(workers)
	stopped()
}

// ServeShared serves what runs share until ctx is done, and no run. Each worker serves it, too.
func (h *Host) ServeShared(ctx context.Context) error {
	fatal := make(chan error, 1)
	w := h.keeper(func(err error) { fatal <- err })
	if err := w.Start(); err != nil {
		return fmt.Errorf("the queue %s: %w", wire.ShareQueue(h.options.Store), err)
	}
	defer h.stop([]worker.Worker{w}, []string{wire.ShareQueue(h.options.Store)})
	select {
	case <-ctx.Done():
		return nil
	case err := <-fatal:
		return err
	}
}

// keeper is the worker that serves what runs share. Its activities take no slot of attempts: they are short, and attempts wait for them.
func (h *Host) keeper(fatal func(error)) worker.Worker {
	w := worker.New(h.client, wire.ShareQueue(h.options.Store), worker.Options{MaxConcurrentActivityExecutionSize: errandSlots,
		DeadlockDetectionTimeout: 10 * time.Second, WorkerStopTimeout: time.Second, StickyScheduleToStartTimeout: h.sticky(), OnFatalError: fatal})
	w.RegisterWorkflowWithOptions((&share.Host{Soft: h.options.SoftShared, Sweep: h.options.Sweep, Clock: h.options.Clock, Large: h.options.Large}).Workflow, workflow.RegisterOptions{Name: wire.Share})
	w.RegisterActivityWithOptions(h.asker.errand, activity.RegisterOptions{Name: wire.Errand})
	w.RegisterActivityWithOptions(h.ended, activity.RegisterOptions{Name: wire.Alive})
	w.RegisterActivityWithOptions(h.deliver, activity.RegisterOptions{Name: wire.Deliver})
	w.RegisterActivityWithOptions(h.endOf, activity.RegisterOptions{Name: wire.EndOf})
	w.RegisterActivityWithOptions(h.launch, activity.RegisterOptions{Name: wire.Launch})
	return w
}

// heartbeat lets the server hear of an activity, and reports whether nobody wants it any more: it is to be cancelled, or the server has given it up. A
// server that cannot be reached says nothing.
func (h *Host) heartbeat(ctx context.Context, token []byte) (over bool) {
	err := h.client.RecordActivityHeartbeat(ctx, token)
	return temporal.IsCanceledError(err) || isNotFound(err)
}

// sticky is how long a decision waits for the worker that has made the one before: not longer than that one may take.
func (h *Host) sticky() time.Duration { return min(cmp.Or(h.options.Task, stickiest), stickiest) }

// stickiest is what the SDK has as its default.
const stickiest = 5 * time.Second

// watchSlots is how many sources a worker watches at once.
const watchSlots = 1000

// errandSlots is how many errands of runs a worker carries out at once.
const errandSlots = 100

func stopAll(workers []worker.Worker) {
	var all sync.WaitGroup
	for _, w := range workers {
		all.Go(w.Stop)
	}
	all.Wait()
}

// register registers the workflow of runs. of says what becomes of batches, and where those of earlier executions are.
func (h *Host) register(r interface {
	RegisterWorkflowWithOptions(w any, o workflow.RegisterOptions)
}, of *run.Host) {
	of.Machines, of.Externals, of.Soft, of.Heartbeat = h.options.Machines, h.options.Externals, h.options.Soft, h.options.Heartbeat
	of.Artifacts, of.Large, of.Group, of.Events, of.Clock = h.artifacts, h.options.Large, h.options.Group, h.options.Events, h.options.Clock
	r.RegisterWorkflowWithOptions(of.Workflow, workflow.RegisterOptions{Name: wire.Workflow})
	r.RegisterWorkflowWithOptions(of.Detached, workflow.RegisterOptions{Name: wire.Detached})
}

// Start makes a run durable. Any worker may drive it from then on.
func (h *Host) Start(ctx context.Context, s engine.Start) (string, error) {
	s.Header.Run = cmp.Or(s.Header.Run, engine.NewID())
	s.Header.Created, s.First.Run = event.At(time.Now()), s.Header.Run
	if h.options.Check != nil {
		if err := h.options.Check(&s); err != nil {
			return "", err
		}
	}
	g, err := engine.GroupOf(h.options.Group, &s)
	if err != nil {
		return "", err
	}
	start, err := wire.NewStart(s)
	start.Store, start.Tells = h.options.Store, s.First.Parent == ""
	if err == nil && h.options.UsesMemory != nil {
		start.Memory, err = h.options.UsesMemory(&s)
	}
	var arg, memo []byte
	if err == nil {
		arg, err = wire.Encode(start)
	}
	if err == nil {
		memo, err = wire.Encode(start.Summary(&s.First))
	}
	if err != nil {
		return "", err
	}
	most := wire.MaxPayload
	if h.options.Large {
		most = wire.MaxLarge
	}
	if len(arg) > most {
		return "", &Refused{[]string{fmt.Sprintf("the program, its source and its inputs have %d bytes, compressed, and the limit is %d", len(arg), most)}}
	}
	if g.Name != "" {
		h.reserve(ctx, wire.Enter{Run: s.Header.Run, Group: g, Reserves: true})
	}
	_, err = h.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: s.Header.Run, TaskQueue: cmp.Or(s.Queue, h.options.Queue), WorkflowTaskTimeout: cmp.Or(h.options.Task, time.Minute),
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE, WorkflowExecutionErrorWhenAlreadyStarted: true,
		Memo: map[string]any{wire.Memo: memo}}, wire.Workflow, arg)
	if started := new(serviceerror.WorkflowExecutionAlreadyStarted); errors.As(err, &started) {
		if err = nil; g.Name != "" {
			h.reserve(ctx, wire.Enter{Run: s.Header.Run, Gone: true})
		}
	}
	return s.Header.Run, err
}

// Signal sends a message to a run.
func (h *Host) Signal(ctx context.Context, run string, x event.External) error {
	packed, err := engine.PackExternal(x, h.options.Externals)
	if err != nil {
		return err
	}
	if x.Kind != event.ExternalCancel {
		if err := h.checkRoom(ctx, run); err != nil {
			return err
		}
	}
	err = h.client.SignalWorkflow(ctx, run, "", wire.Inbox, packed)
	if !isNotFound(err) {
		return err
	}
	if _, err := h.describe(ctx, run); err != nil {
		return err
	}
	if x.Kind == event.ExternalCancel {
		return nil
	}
	return fmt.Errorf("%w: %s", engine.ErrEnded, run)
}

// checkRoom returns [engine.ErrInboxFull] if so many messages wait that the run takes no more: those that came since its last decision, while no worker
// makes the next one. Of two that are sent at once, both may find room for one.
func (h *Host) checkRoom(ctx context.Context, run string) error {
	d, err := h.describe(ctx, run)
	info := d.GetWorkflowExecutionInfo()
	if err != nil || info.GetHistoryLength() < engine.MaxInbox || d.GetPendingWorkflowTask().GetState() != enums.PENDING_WORKFLOW_TASK_STATE_SCHEDULED {
		return err
	}
	waiting := 0
	for page := []byte(nil); ; {
		r, err := h.client.WorkflowService().GetWorkflowExecutionHistoryReverse(ctx, &workflowservice.GetWorkflowExecutionHistoryReverseRequest{
			Namespace: h.options.Namespace, Execution: info.GetExecution(), NextPageToken: page})
		if err != nil {
			return err
		}
		for _, e := range r.GetHistory().GetEvents() {
			if e.GetEventType() == enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
				return nil
			}
			if e.GetEventType() == enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED {
				waiting++
			}
			if waiting >= engine.MaxInbox {
				return fmt.Errorf("%w: run %s", engine.ErrInboxFull, run)
			}
		}
		if page = r.GetNextPageToken(); len(page) == 0 {
			return nil
		}
	}
}

// Cancel asks for the end of a run.
func (h *Host) Cancel(ctx context.Context, run, reason string) error {
	return h.Signal(ctx, run, event.External{Kind: event.ExternalCancel, Reason: reason})
}

func isNotFound(err error) bool {
	return errors.As(err, new(*serviceerror.NotFound))
}

// describe asks for the newest execution of a run.
func (h *Host) describe(ctx context.Context, run string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	d, err := h.client.DescribeWorkflowExecution(ctx, run, "")
	if isNotFound(err) {
		return nil, fmt.Errorf("%w: %s", engine.ErrNoRun, run)
	}
	if err == nil && d.GetWorkflowExecutionInfo().GetType().GetName() != wire.Workflow {
		return nil, fmt.Errorf("%w: %s is a workflow that flowrun has not started", engine.ErrNoRun, run)
	}
	return d, err
}

// converter reads payloads.
func (h *Host) converter() converter.DataConverter {
	if h.options.Reader != nil {
		return h.options.Reader
	}
	return converter.GetDefaultDataConverter()
}

// bind says where the artifacts of a batch lie.
func (h *Host) bind(run string, b journal.Batch) journal.Batch {
	b.From = h.artifacts(run)
	return b
}

func (h *Host) artifacts(run string) event.Artifacts {
	if h.options.Artifacts != nil {
		return h.options.Artifacts(run)
	}
	return unshared{&h.unshared}
}

// unshared are the artifacts of a process without the folder that has them.
type unshared struct{ asked *atomic.Bool }

var errUnshared = fmt.Errorf("long outputs of the run lie in the folder or bucket that workers and readers share, and this process has none: set %s", payload.FolderEnv)

// Load implements [event.Artifacts].
func (u unshared) Load(*event.Artifact) (*event.Parts, error) {
	u.asked.Store(true)
	return nil, errUnshared
}

// polled is how long ago the server must have heard of a worker that lives: a poll takes a minute.
const polled = 70 * time.Second

// Served returns the queue of a run, and whether a worker takes work from it. A worker that was killed counts for up to a minute.
func (h *Host) Served(ctx context.Context, run string) (queue string, served bool, err error) {
	d, err := h.describe(ctx, run)
	if err != nil {
		return "", false, err
	}
	queue = d.GetExecutionConfig().GetTaskQueue().GetName()
	served, err = h.isServed(ctx, queue)
	return queue, served, err
}

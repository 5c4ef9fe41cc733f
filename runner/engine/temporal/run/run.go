// Package run is the workflow that drives one run on Temporal: a host of machines whose clock, timers, messages and answers are those of the
// server. It is replayed from the history of its execution, so it is pure: of the SDK it has package workflow alone, and of flowrun
// [engine.Session], whose rules it shares with the other hosts.
//
// An attempt is an activity that is never repeated by the server: a worker that dies, or gives an attempt back, is an answer to the session. One that
// outlives its execution is detached, and a workflow of its own waits for it: see [Host.Detached].
// A called run is a child workflow that tells its end by a signal to the workflow id of its caller, so that both can continue as new. All
// timers of a run are one timer of the server. The id of an activity has the digest of the run so far: a program that was read otherwise, or
// another release, is noticed when an execution is replayed.
//
// Enter at [Host.Workflow].
package run

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// Bounds of an execution.
const (
	// Window bounds the attempts and called runs that are handed out at once: the server holds 2,000 pending activities.
	Window = 200
	// Soft is the length of a history from which on an execution continues as new once nothing is handed out.
	Soft = 4096
	// hardFactor times that is the length from which on nothing is handed out, so that the execution can continue. The server ends an
	// execution at 51,200 events.
	hardFactor = 5
	// SoftBytes and HardBytes are the same of the size of a history. The server ends an execution at 50 MiB.
	SoftBytes = 8 << 20
	HardBytes = 24 << 20
	// Heartbeat is how long a worker may be silent. It is longer than a restart of the server takes: a shorter one takes live attempts
	// for lost.
	Heartbeat = 30 * time.Second
	// forever is the longest time that an activity may take: executors know the timeouts of attempts.
	forever = 10 * 365 * 24 * time.Hour
)

// Machines makes machines.
type Machines interface {
	Machine(h journal.Header, definition []byte) (engine.Machine, error)
	// Restore makes a machine of its state.
	Restore(h journal.Header, definition, state []byte) (engine.Machine, error)
}

// Host drives runs. The zero values of all but Machines are for use.
type Host struct {
	Machines Machines
	// Externals are the kinds of messages that the machines know.
	Externals []event.ExternalKind
	// Record, if set, sees each batch when it was fed, and the time of its last event. It is for readers of histories.
	Record func(journal.Batch, event.Time)
	// Soft is how many events let an execution continue as new; 0 means [Soft].
	Soft int
	// Heartbeat is how long a worker may be silent; 0 means [Heartbeat].
	Heartbeat time.Duration
	// Bare leaves out the memo of runs that end.
	Bare bool
	// Artifacts, if set, reads the long parts of answers of a run.
	Artifacts func(run string) event.Artifacts
	// Large says that payloads lie beside the server where they are large: [wire.MaxLarge] bounds them.
	Large bool
	// Earlier, if set, returns the batches of the executions of a run from one to another: a state that another release has left is passed
	// over for them. Histories of executions that have ended do not change, so that each call for the same ones returns the same.
	Earlier func(run, first, last string) ([]journal.Batch, error)
	// Group and Events say in which group a run is, and for which events it waits: see local.Options. They are pure.
	Group  func(definition []byte, first event.RunStarted) (engine.Group, error)
	Events func(definition []byte, first event.RunStarted) ([]string, error)
	// Clock is the time of runs.
	Clock wire.Clock
}

// drive is one execution of a run.
type drive struct {
	*Host
	*engine.Session
	ctx     workflow.Context // goes on when the server is asked to cancel the workflow
	outer   workflow.Context
	start   wire.Start
	inbox   workflow.ReceiveChannel
	posted  workflow.ReceiveChannel // messages from what runs share
	parcels workflow.ReceiveChannel // several of them, and grants
	granted workflow.ReceiveChannel
	adopted workflow.ReceiveChannel
	ended   workflow.ReceiveChannel
	landed  workflow.ReceiveChannel
	flights []*flight // in the order of their starts
	leaving []*leaving
	recalls []*recall
	calls   []*call           // that were asked for and have not started
	cancels []workflow.Future // of called runs, on their way
	held    []*held           // in order: they wait for the next decision
	given   struct{ decision, bytes int }
	carried *wire.Carried
	alarm   alarm
	batches []journal.Batch
	digest  uint64
	names   map[string]int // of activities, and how often each was given
	full    bool           // the history is so long that nothing is handed out
	// cancelled: the run knows that the server was asked to cancel the workflow. ends: its state is too large for another execution.
	cancelled, ends bool
	artifacts       event.Artifacts // nil: answers are whole
	errands         errands
	patients        []*patient            // in the order of their coming
	grants          map[uint64]event.Time // by ticket: they came before the attempt was known to wait
	hasTurn         bool                  // in its group
	deadlock        *engine.Deadlock      // why a called run does nothing
}

// most is the bound of a payload that has another one where it lies on the server.
func (h *Host) most(bytes int) int {
	if h.Large {
		return wire.MaxLarge
	}
	return bytes
}

// flight is an attempt that was handed out.
type flight struct {
	wire.Task
	future    workflow.Future
	cancel    workflow.CancelFunc
	cancelled bool
	left      bool // a watch that the next execution begins anew
}

// held is an attempt, or a called run, that a decision has no room for.
type held struct {
	task  *wire.Task
	claim *wire.Claim // of a task that is detached
	ask   *event.StartChild
	wish  engine.Wish
}

// call is a called run that starts.
type call struct {
	ask     event.StartChild
	wish    engine.Wish // it hears this once it has started
	started workflow.Future
	step    int // 0: it starts; 1: it was there, and is adopted; 2: it has ended, and its end is read
}

// alarm is the timer of the server for the earliest timer of the run.
type alarm struct {
	due    event.Time
	future workflow.Future
	cancel workflow.CancelFunc
}

// Workflow drives a run to its end, and returns the end. An error would end the run: what a worker cannot do fails the decision alone, by a
// panic. The server then asks for the decision again, and any worker that can goes on.
func (h *Host) Workflow(ctx workflow.Context, arg []byte) ([]byte, error) {
	end, err := h.drive(ctx, arg)
	if err != nil && !workflow.IsContinueAsNewError(err) {
		panic(err)
	}
	return end, err
}

func (h *Host) drive(ctx workflow.Context, arg []byte) ([]byte, error) {
	d := &drive{Host: h, outer: ctx, carried: &wire.Carried{Number: 1, Children: map[string]*wire.Called{}}}
	d.ctx, _ = workflow.NewDisconnectedContext(ctx)
	if err := wire.Decode(arg, &d.start); err != nil {
		return nil, err
	}
	if d.start.Rules > wire.Rules {
		return nil, fmt.Errorf("a newer release has started the run (rules %d), and this worker knows rules %d: upgrade it", d.start.Rules, wire.Rules)
	}
	first := d.start.Carried == nil
	if err := d.open(); err != nil {
		return nil, err
	}
	d.inbox, d.ended = workflow.GetSignalChannel(d.ctx, wire.Inbox), workflow.GetSignalChannel(d.ctx, wire.Ended)
	d.posted, d.granted = workflow.GetSignalChannel(d.ctx, wire.Posted), workflow.GetSignalChannel(d.ctx, wire.Granted)
	d.adopted, d.landed = workflow.GetSignalChannel(d.ctx, wire.Adopted), workflow.GetSignalChannel(d.ctx, wire.Landed)
	d.parcels = workflow.GetSignalChannel(d.ctx, wire.Parcels)
	begins := d.Fold().Seq() + 1
	if err := workflow.SetQueryHandler(d.ctx, wire.Batches, func(after uint64) ([]byte, error) { return d.page(begins, after) }); err != nil {
		return nil, err
	}
	if !first || d.start.Rules == 0 {
		d.receive()
	}
	if first {
		if err := d.enter(); err != nil {
			return nil, err
		}
	}
	t := engine.Takeover{Driven: !first, Changed: event.DriverChanged{Driver: d.carried.Number, Kept: d.detached()}}
	if first {
		t.First, t.Fresh = &d.start.First, true
	}
	d.Begin(t)
	for d.Fold().End() == nil {
		if err := d.turn(); err != nil {
			return nil, err
		}
	}
	return d.close()
}

// open makes the session of the run.
func (d *drive) open() error {
	s, err := d.start.Engine()
	if err != nil {
		return err
	}
	if c := d.start.Carried; c != nil {
		d.carried = c
		if c.Children == nil {
			c.Children = map[string]*wire.Called{}
		}
		state, err := wire.Expand(c.State)
		if err == nil {
			d.Session, err = engine.RestoreSession(s, state, func(state []byte) (engine.Machine, error) {
				return d.Machines.Restore(s.Header, s.Definition, state)
			})
		}
		if err != nil && d.Earlier != nil {
			return d.rebuild(s, err)
		}
		if err != nil {
			return fmt.Errorf("run %s: its state of another execution: %w", s.Header.Run, err)
		}
	} else if err := d.begin(s); err != nil {
		return err
	}
	d.bind()
	return nil
}

// begin makes the session of a run whose journal is empty.
func (d *drive) begin(s engine.Start) error {
	m, err := d.Machines.Machine(s.Header, s.Definition)
	if err != nil {
		return err
	}
	d.Session = engine.NewSession(s, m)
	return nil
}

// rebuild makes the session of a run whose state this release cannot read, from the histories of the executions before this one. It asks the server
// for nothing that the history of this execution would have to have: a worker of the other release may have begun it.
func (d *drive) rebuild(s engine.Start, unread error) error {
	info := workflow.GetInfo(d.ctx)
	batches, err := d.Earlier(s.Header.Run, info.FirstRunID, info.ContinuedExecutionRunID)
	if err != nil {
		return fmt.Errorf("run %s: another release has left its state (%w), and its earlier executions cannot be read: %w", s.Header.Run, unread, err)
	}
	if err := d.begin(s); err != nil {
		return err
	}
	d.bind()
	for _, b := range batches {
		if _, err := d.Rebuild(b); err != nil {
			return err
		}
	}
	return nil
}

// bind says where the long parts of answers lie, and how much is handed out at once.
func (d *drive) bind() {
	if d.Artifacts != nil {
		d.artifacts = d.Artifacts(d.start.Header.Run)
		d.Fold().Bind(d.artifacts)
	}
	d.SetWindow(engine.Window{Attempts: Window, Children: Window})
}

// turn waits until something happens, and makes a round of it.
func (d *drive) turn() error {
	d.collect()
	if d.Waiting() {
		d.act(nil)
	}
	d.sendErrands()
	if len(d.Queued()) == 0 {
		if err := d.continueAsNew(); err != nil || len(d.Queued()) > 0 {
			return err
		}
		d.setAlarm()
		return workflow.Await(d.ctx, d.isNews)
	}
	r, err := d.Feed(d.now())
	if err != nil {
		return err
	}
	d.digest = r.Batch.Digest
	b := r.Batch
	b.Body = append([]byte(nil), b.Body...)
	d.batches = append(d.batches, b)
	if d.Record != nil {
		d.Record(b, d.Fold().Last())
	}
	d.tell(r)
	d.act(r)
	d.Reuse(r)
	return nil
}

func (d *drive) now() event.Time { return d.Clock.At(workflow.Now(d.ctx)) }

// isNews reports whether there is something to collect.
func (d *drive) isNews() bool {
	if d.inbox.Len() > 0 || d.adopted.Len() > 0 || d.posted.Len() > 0 || d.parcels.Len() > 0 || d.granted.Len() > 0 || d.ended.Len() > 0 || d.landed.Len() > 0 || d.errands.future != nil && d.errands.future.IsReady() || d.outer.Err() != nil && !d.cancelled || d.alarm.future != nil && d.alarm.future.IsReady() {
		return true
	}
	if len(d.held) > 0 && d.given.decision != workflow.GetInfo(d.ctx).GetCurrentHistoryLength() {
		return true
	}
	for _, f := range d.flights {
		if f.future.IsReady() {
			return true
		}
	}
	for _, c := range d.calls {
		if c.started.IsReady() {
			return true
		}
	}
	if slices.ContainsFunc(d.cancels, workflow.Future.IsReady) {
		return true
	}
	return d.isNewsOfDetached()
}

// collect queues what has happened.
func (d *drive) collect() {
	d.receive()
	d.collectErrands()
	for i := 0; i < len(d.flights); i++ {
		if f := d.flights[i]; f.future.IsReady() {
			d.flights = slices.Delete(d.flights, i, i+1)
			i--
			d.land(f) // it may start another one
		}
	}
	d.collectDetached()
	d.cancels = slices.DeleteFunc(d.cancels, workflow.Future.IsReady) // a run that has ended needs no cancel
	d.giveHeld()
	calls := d.calls[:0]
	for _, c := range d.calls {
		if !c.started.IsReady() {
			calls = append(calls, c)
		} else if more, err := d.hearStart(c); more {
			calls = append(calls, c)
		} else if err != nil {
			delete(d.carried.Children, c.ask.Run)
			d.ChildEnded(unstarted(c.ask, err.Error()))
		} else if d.carried.Children[c.ask.Run] != nil {
			d.signalCancels(c.ask.Run, c.wish)
		}
	}
	d.calls = calls
	d.hearGrants()
	d.Fire(d.now(), journal.MaxBatchEvents)
}

// receive queues the messages and the ends of called runs that signals brought.
func (d *drive) receive() {
	if d.outer.Err() != nil && !d.cancelled {
		d.cancelled = true
		d.cancel("cancelled on the server")
	}
	var waiting []event.External
	if d.start.Rules == 0 {
		waiting = d.receivePosted(d.receiveInbox(nil))
	} else { // the server does not tell which of both came first: a cancel or a decision of a person does not hide the events before it
		waiting = d.receiveInbox(d.receivePosted(nil))
	}
	for _, x := range waiting {
		d.carried.Messages++
		x.Inbox = d.carried.Messages
		d.Message(x)
		d.noteSession(&x)
	}
	var b []byte
	d.hearGrants()
	d.hearAdoption()
	for d.ended.ReceiveAsync(&b) {
		var f event.ChildFinished
		if err := wire.Decode(b, &f); err != nil {
			workflow.GetLogger(d.ctx).Warn("the end of a called run cannot be read", "error", err)
			continue
		}
		if d.carried.Children[f.Run] != nil {
			delete(d.carried.Children, f.Run)
			d.ChildEnded(f)
		}
	}
	d.hearLanded()
}

// noteSession has an attempt that its worker gives back go on in its session. The machine does the same for one whose worker is lost.
func (d *drive) noteSession(x *event.External) {
	ticket, session := event.SessionOf(x)
	if a := d.carried.Detached[ticket]; a != nil && x.Kind == event.ExternalSession {
		a.Session, a.Lost.Session = session, session
	}
	for _, f := range d.flights {
		if a := &f.Task.Attempt; x.Kind == event.ExternalSession && a.Ticket == ticket && a.Agent != nil {
			agent := *a.Agent
			agent.Session, a.Agent = session, &agent
		}
	}
}

// receiveInbox puts the messages that were sent to the run behind those that wait.
func (d *drive) receiveInbox(waiting []event.External) []event.External {
	for b := []byte(nil); d.inbox.ReceiveAsync(&b); {
		x, err := engine.UnpackExternal(0, b)
		if err == nil {
			_, err = engine.PackExternal(x, d.Externals)
		}
		if err != nil {
			workflow.GetLogger(d.ctx).Warn("a message is refused", "error", err)
			continue
		}
		waiting = append(waiting, x)
	}
	return waiting
}

// receivePosted puts the messages of what runs share behind those that wait.
func (d *drive) receivePosted(waiting []event.External) []event.External {
	take := func(body []byte) {
		x, err := engine.UnpackExternal(0, body)
		if err != nil {
			workflow.GetLogger(d.ctx).Warn("a message of the shared state cannot be read", "error", err)
			return
		}
		if d.start.Rules > 0 {
			waiting, x = engine.MakeRoom(waiting, x)
		}
		waiting = append(waiting, x)
	}
	for b := []byte(nil); d.posted.ReceiveAsync(&b); {
		take(b)
	}
	for b := []byte(nil); d.parcels.ReceiveAsync(&b); {
		for _, m := range d.unheard(b) {
			if m.Name == wire.Granted {
				d.hearGrant(m.Body)
			} else {
				take(m.Body)
			}
		}
	}
	return waiting
}

// unheard returns the messages of a parcel that the run has not heard yet.
func (d *drive) unheard(body []byte) []wire.Unsent {
	var p wire.Parcel
	if err := wire.Decode(body, &p); err != nil {
		workflow.GetLogger(d.ctx).Warn("messages of the shared state cannot be read", "error", err)
		return nil
	}
	if c := d.carried; c.From != p.From { // what runs share began anew
		c.From, c.Heard = p.From, 0
	}
	return slices.DeleteFunc(p.Messages, func(m wire.Unsent) bool {
		heard := m.Number != 0 && m.Number <= d.carried.Heard
		d.carried.Heard = max(d.carried.Heard, m.Number)
		return heard
	})
}

// cancel queues a cancel of the run.
func (d *drive) cancel(reason string) {
	d.carried.Messages++
	d.Message(event.External{Inbox: d.carried.Messages, Kind: event.ExternalCancel, Reason: reason})
}

// land hears of an attempt whose activity has ended.
func (d *drive) land(f *flight) {
	var b []byte
	err := f.future.Get(d.ctx, &b)
	switch l := d.landing(b, err); {
	case f.left:
	case isUnstarted(err):
		d.hear(&f.Task, f.cancelled, wire.Landing{Answer: &wire.Answer{}})
	case l.Answer != nil && l.Answer.Detached != nil:
		d.detach(&f.Task, l.Answer.Detached, f.cancelled)
	default:
		d.hear(&f.Task, f.cancelled, l)
	}
}

// landing is how an attempt comes back whose activity has ended with a payload or an error.
func (h *Host) landing(b []byte, err error) wire.Landing {
	var answer wire.Answer
	if err == nil {
		err = wire.Decode(b, &answer)
	}
	switch {
	case err == nil:
		return wire.Landing{Answer: &answer}
	case temporal.IsCanceledError(err):
		return wire.Landing{Never: true}
	case temporal.IsTimeoutError(err):
		return wire.Landing{Lost: fmt.Sprintf("its worker was not heard of for %s", h.heartbeat())}
	}
	return wire.Landing{Lost: "its worker failed: " + err.Error()}
}

// hear queues the answer of an attempt.
func (d *drive) hear(t *wire.Task, cancelled bool, l wire.Landing) {
	a, answer := t.Attempt, l.Answer
	switch {
	case l.Never:
		d.remove(t)
		d.Answer(new(engine.NeverStarted(a)))
	case answer == nil:
		d.lose(t, engine.LostAlone(a, l.Lost))
	case answer.Queued && cancelled:
		d.remove(t)
		d.Answer(new(engine.NeverStarted(a)))
	case answer.Queued:
		d.wait(t)
	case answer.Finished == nil && answer.Place != "":
		d.setPlace(a.Worktree.Run, answer.Place)
		d.GiveBack(a)
	case answer.Finished == nil:
		if d.GiveBack(a); cancelled {
			d.remove(t)
		}
	default:
		x := answer.Finished
		d.notePlace(&a, x, answer.Place)
		if x.Artifact != nil {
			x.Artifact.From = d.artifacts
		}
		x.Ticket, x.Node, x.Attempt, x.Gate, x.Compensate = a.Ticket, a.Node, a.Attempt, a.Gate, a.Compensate
		if x.Outcome == event.Refused {
			if d.noteRefused(a); cancelled {
				d.withdraw(a.Ticket)
			}
		}
		d.Answer(x)
	}
}

func (h *Host) heartbeat() time.Duration { return cmp.Or(h.Heartbeat, Heartbeat) }

// act does what the session says.
func (d *drive) act(r *engine.Round) {
	for x := range d.Effects(r) {
		switch {
		case x.Start != nil:
			d.startAttempt(x.Start)
		case x.Never != nil:
			if ticket, refused := d.forgetRefused(x.Never.Key); refused {
				d.push(wire.Request{Remove: &wire.Holder{Key: x.Never.Key, Ticket: ticket}}, nil)
			}
		case x.Cancel != nil:
			for _, f := range d.flights {
				if f.Ticket == x.Cancel.Ticket {
					f.cancelled = true
					f.cancel()
				}
			}
			d.cancelDetached(x.Cancel.Ticket)
			d.cancelUnsent(x.Cancel.Ticket)
			d.cancelHeld(x.Cancel.Ticket)
			d.withdraw(x.Cancel.Ticket)
		case x.Child != nil:
			d.startChild(x.Child, x.Wish)
		case x.CancelChild != "":
			d.cancelChild(x.CancelChild, x.Wish)
		}
	}
}

// startAttempt hands an attempt to the workers.
func (d *drive) startAttempt(a *event.Attempt) {
	fail := func(format string, args ...any) {
		f := engine.NeverStarted(*a)
		f.Error = &event.Error{Kind: event.Fatal, Reason: event.ReasonStart, ExitCode: -1, Message: fmt.Sprintf(format, args...)}
		d.Answer(&f)
	}
	switch {
	case a.Kind == event.StoreAttempt && d.start.Store != "":
		d.askStore(*a)
	case a.Kind == event.HoldAttempt && d.start.Store != "":
		d.askHold(*a)
	case !d.carries(a):
		fail("attempts of kind %s are not carried out on Temporal", a.Kind)
	default:
		_, stands := d.forgetRefused(a.Key)
		d.carried.Shares = d.carried.Shares || a.Admission != nil || stands
		if size := d.handOver(&wire.Task{Attempt: *a, InLine: stands}); size != 0 {
			fail("the request of the attempt has %d bytes, and a worker accepts at most %d", size, wire.MaxTask)
		}
	}
}

// handOver hands an attempt to the workers, unless it is too large: then it returns its size.
func (d *drive) handOver(t *wire.Task) (size int) {
	t.Detaches = d.start.Rules >= detaches && !t.IsWatch()
	task, err := wire.Encode(t)
	if err != nil || len(task) > d.most(wire.MaxTask) {
		return max(len(task), 1)
	}
	if !d.hasRoomFor(len(task)) {
		d.held = append(d.held, &held{task: t})
		return 0
	}
	ctx, cancel := workflow.WithCancel(d.ctx)
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ActivityID:          d.name(fmt.Sprint(t.Ticket)),
		StartToCloseTimeout: forever, ScheduleToCloseTimeout: forever, HeartbeatTimeout: d.heartbeat(), WaitForCancellation: true,
		ScheduleToStartTimeout: d.patience(t), RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1}, Summary: t.Name,
	})
	kind := wire.Attempt
	switch {
	case t.Kind == event.RememberAttempt || t.Kind == event.RecallAttempt:
		kind, d.carried.Remembers = wire.MemoryAttempt, true
		ctx = workflow.WithTaskQueue(ctx, wire.MemoryQueue(d.start.Store))
	case t.IsWatch():
		ctx = workflow.WithTaskQueue(ctx, wire.WatchQueue(workflow.GetInfo(ctx).TaskQueueName))
	case d.placeOf(t) != "":
		ctx = workflow.WithTaskQueue(ctx, wire.PlaceQueue(d.placeOf(t)))
	}
	if t.Agent != nil && t.Agent.Memory != nil {
		d.carried.Remembers = true
	}
	d.flights = append(d.flights, &flight{Task: *t, future: workflow.ExecuteActivity(ctx, kind, task, len(d.start.First.Secrets) > 0), cancel: cancel})
	return 0
}

// hasRoomFor reports whether the decision that is being made has room for a payload, and takes the room. The first payload always has.
func (d *drive) hasRoomFor(bytes int) bool {
	if now := workflow.GetInfo(d.ctx).GetCurrentHistoryLength(); now != d.given.decision {
		d.given.decision, d.given.bytes = now, 0
	}
	if d.Large {
		bytes = min(bytes, wire.Beside)
	}
	if d.given.bytes > 0 && d.given.bytes+bytes > wire.MaxDecision {
		d.given.bytes = wire.MaxDecision // what comes later waits, too, so that the order stays
		return false
	}
	d.given.bytes += bytes
	return true
}

// giveHeld hands over what an earlier decision had no room for. Of that, the first has room in each decision.
func (d *drive) giveHeld() {
	if len(d.held) == 0 || d.given.decision == workflow.GetInfo(d.ctx).GetCurrentHistoryLength() {
		return
	}
	list := d.held
	d.held = nil
	for _, h := range list {
		switch {
		case h.claim != nil:
			d.startDetached(h.task, h.claim)
		case h.task != nil:
			d.handOver(h.task) // its size was looked at
		default:
			d.startChild(h.ask, h.wish)
		}
	}
}

// cancelHeld answers an attempt that waits for the next decision.
func (d *drive) cancelHeld(ticket uint64) {
	for i, h := range d.held {
		if h.task != nil && h.claim == nil && h.task.Ticket == ticket {
			d.held = slices.Delete(d.held, i, i+1)
			d.remove(h.task)
			d.Answer(new(engine.NeverStarted(h.task.Attempt)))
			return
		}
	}
}

// placeOf returns where the worktree lies in which an attempt works, or that it removes; "": any worker has the attempt.
func (d *drive) placeOf(t *wire.Task) string {
	if t.Worktree != nil {
		return d.carried.Places[t.Worktree.Run]
	}
	return d.start.Place
}

// notePlace notes where a worktree lies that an attempt has made, or forgets it.
func (d *drive) notePlace(a *event.Attempt, f *event.AttemptFinished, place string) {
	switch {
	case a.Worktree == nil || f.Outcome != event.OK:
	case a.Worktree.Remove:
		delete(d.carried.Places, a.Worktree.Run)
	case place != "":
		d.setPlace(a.Worktree.Run, place)
	}
}

func (d *drive) setPlace(run, place string) {
	if d.carried.Places == nil {
		d.carried.Places = map[string]string{}
	}
	d.carried.Places[run] = place
}

// name returns the id of an activity. An attempt that was given back, or granted later, is handed over more than once.
func (d *drive) name(what string) string {
	id := fmt.Sprintf("%s.%08x", what, uint32(d.digest>>32))
	if d.names == nil {
		d.names = map[string]int{}
	}
	d.names[id]++
	if n := d.names[id]; n > 1 {
		id = fmt.Sprintf("%s.%d", id, n)
	}
	return id
}

// carries reports whether workers carry an attempt out. The others need what lies in a store on a disk: a client refuses the programs
// that have them, before a run starts.
func (d *drive) carries(a *event.Attempt) bool {
	if (a.Agent != nil && a.Agent.Memory != nil || a.Admission != nil) && d.start.Store == "" {
		return false
	}
	switch a.Kind {
	case event.RunAttempt, event.ExecAgentAttempt, event.ShellAgentAttempt, event.HTTPAgentAttempt, event.MCPAgentAttempt, event.ACPAgentAttempt, event.A2AAgentAttempt, event.ChatAgentAttempt, event.NullAgentAttempt, event.HTTPAttempt:
		return true
	case event.NotifyAttempt, event.BenchmarkAttempt, event.SourceAttempt, event.RememberAttempt, event.RecallAttempt, event.WorktreeAttempt:
		return d.start.Store != ""
	case event.HumanAgentAttempt, event.StoreAttempt, event.HoldAttempt:
	}
	return false
}

// startChild makes a called run, unless it is there, and cancels it as often as the wish says.
func (d *drive) startChild(ask *event.StartChild, wish engine.Wish) {
	if d.carried.Children[ask.Run] == nil {
		if wish.Cancels > 0 {
			d.ChildEnded(engine.Unmade(*ask))
			return
		}
		s := engine.Child(*d.Session.Start(), *ask)
		s.Header.Created, s.Source = d.now(), nil
		start, err := wire.NewStart(s)
		if err == nil && d.start.Store != "" {
			start.Store = d.start.Store
			start.Callers = append([]string{d.start.Header.Run}, d.start.Callers...)
			start.Memory, start.Place = d.start.Memory, d.start.Place
			if place := d.carried.Places[ask.Run]; place != "" {
				start.Place = place
			}
			_, err = engine.GroupOf(d.Group, &s)
		}
		var arg, memo []byte
		if err == nil {
			arg, err = wire.Encode(start)
		}
		if err == nil {
			memo, err = wire.Encode(start.Summary(&s.First))
		}
		switch {
		case err != nil:
			d.ChildEnded(unstarted(*ask, err.Error()))
			return
		case len(arg) > d.most(wire.MaxTask):
			d.ChildEnded(unstarted(*ask, fmt.Sprintf("its program and inputs have %d bytes, and %d can be handed over", len(arg), d.most(wire.MaxTask))))
			return
		}
		if !d.hasRoomFor(len(arg)) {
			d.held = append(d.held, &held{ask: new(*ask), wish: wish})
			return
		}
		ctx := workflow.WithChildOptions(d.ctx, workflow.ChildWorkflowOptions{WorkflowID: ask.Run, ParentClosePolicy: abandon, WorkflowIDReusePolicy: rejectDuplicate,
			Memo: map[string]any{wire.Memo: memo}})
		d.carried.Children[ask.Run] = &wire.Called{}
		d.calls = append(d.calls, &call{ask: *ask, started: workflow.ExecuteChildWorkflow(ctx, wire.Workflow, arg).GetChildWorkflowExecution()})
	}
	d.cancelChild(ask.Run, wish)
}

// unstarted answers for a called run that does not start.
func unstarted(ask event.StartChild, why string) event.ChildFinished {
	return event.ChildFinished{Run: ask.Run, Node: ask.Node, Status: event.FailedS,
		Error: &event.Error{Kind: event.Fatal, Reason: event.ReasonStart, ExitCode: -1, Message: "the called run does not start: " + why}}
}

// cancelChild cancels a called run until it was cancelled as often as the wish says: once it has started, because a signal finds only a run
// that is there.
func (d *drive) cancelChild(run string, wish engine.Wish) {
	for _, c := range d.calls {
		if c.ask.Run == run {
			c.wish = wish
			return
		}
	}
	for _, h := range d.held {
		if h.ask != nil && h.ask.Run == run {
			h.wish = wish
			return
		}
	}
	d.signalCancels(run, wish)
}

func (d *drive) signalCancels(run string, wish engine.Wish) {
	c := d.carried.Children[run]
	if c == nil {
		return
	}
	packed, _ := engine.PackExternal(event.External{Kind: event.ExternalCancel, Reason: wish.Reason}, nil) // it is small
	for ; c.Cancels < wish.Cancels; c.Cancels++ {
		sent := workflow.SignalExternalWorkflow(d.ctx, run, "", wire.Inbox, packed)
		if d.start.Rules >= awaitsCancels {
			d.cancels = append(d.cancels, sent)
		}
	}
}

// setAlarm lets the server wake the run when its earliest timer is due.
func (d *drive) setAlarm() {
	due, ok := d.NextTimer()
	if p := d.nextPatient(); p != 0 && (!ok || p < due) {
		due, ok = p, true
	}
	if ok && d.alarm.future != nil && d.alarm.due == due && !d.alarm.future.IsReady() {
		return
	}
	if d.alarm.cancel != nil {
		d.alarm.cancel()
	}
	if d.alarm = (alarm{}); !ok {
		return
	}
	ctx, cancel := workflow.WithCancel(d.ctx)
	d.alarm = alarm{due, workflow.NewTimer(ctx, d.Clock.Wait(due.Sub(d.now()))), cancel}
}

// page answers a query for the batches behind an event.
func (d *drive) page(begins, after uint64) ([]byte, error) {
	p, size := wire.Page{Begins: begins}, 0
	for _, b := range d.batches {
		if b.First <= after {
			continue
		}
		if size += len(b.Body); size > wire.MaxPage && len(p.Batches) > 0 {
			p.More = true
			break
		}
		p.Batches = append(p.Batches, wire.NewBatch(b))
	}
	return wire.Encode(p)
}

// learn leaves the run to the memory, which learns from it once a worker serves the memory. The run does not wait for that.
func (d *drive) learn() error {
	if !d.carried.Remembers {
		return nil
	}
	run := d.start.Header.Run
	ctx := workflow.WithChildOptions(d.ctx, workflow.ChildWorkflowOptions{WorkflowID: wire.LearnID(run), ParentClosePolicy: abandon, WorkflowIDReusePolicy: rejectDuplicate,
		TaskQueue: wire.MemoryQueue(d.start.Store)})
	err := workflow.ExecuteChildWorkflow(ctx, wire.Learn, run).GetChildWorkflowExecution().Get(ctx, nil)
	if err != nil && !temporal.IsWorkflowExecutionAlreadyStartedError(err) {
		return fmt.Errorf("the memory is to learn from run %s: %w", run, err)
	}
	return nil
}

// close tells the caller of the run its end.
func (d *drive) close() ([]byte, error) {
	end := *d.Fold().End()
	if err := d.leave(&end); err != nil {
		return nil, err
	}
	if err := d.learn(); err != nil {
		return nil, err
	}
	d.dropDetached()
	s := d.start.Summary(&d.Session.Start().First)
	s.Status, s.Ended, s.Events, s.End = end.Status, d.Fold().Last(), d.Fold().Seq(), engine.EncodeSummary(&end)
	if memo, err := wire.Encode(s); err == nil && !d.Bare {
		if err := workflow.UpsertMemo(d.ctx, map[string]any{wire.Memo: memo}); err != nil {
			return nil, err
		}
	}
	d.hearAdoption()
	if parent := cmp.Or(d.carried.Caller, d.Session.Start().First.Parent); parent != "" {
		ask := event.StartChild{Run: d.start.Header.Run, Node: d.Session.Start().First.ParentNode}
		told := engine.Finished(ask, end)
		if d.deadlock != nil {
			told = d.deadlock.AnswerCaller(ask)
		}
		b, err := wire.Encode(told)
		if err != nil {
			return nil, err
		}
		for heard := ""; heard != parent; { // a run that adopts this one meanwhile hears of it, too
			heard = parent
			if err := workflow.SignalExternalWorkflow(d.ctx, parent, "", wire.Ended, b).Get(d.ctx, nil); err != nil {
				workflow.GetLogger(d.ctx).Debug("the caller has ended", "error", err)
			}
			d.hearAdoption()
			parent = cmp.Or(d.carried.Caller, parent)
		}
	}
	return wire.Encode(end)
}

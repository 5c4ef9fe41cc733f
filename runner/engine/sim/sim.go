// Package sim is the host for tests: virtual time, and faults from a seed.
//
// It drives the same machines through the same engine.Fold as every host and keeps the same journal bytes, in memory.
// Nothing in it waits: the clock jumps to whatever comes next. A [World] plays the part of executors. [Faults] says how
// often things go wrong: the driver dies before or after a commit or between two commands, the clock jumps, answers come
// twice or late. Everything is drawn from one seed, so a run that went wrong goes wrong again.
//
// A simulation is single-threaded: an Engine is not safe for concurrent use. It knows no particular machine.
package sim

import (
	"container/heap"
	"context"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// ErrCrashed is what Drive returns when the simulated driver died. Drive again to take the run over.
var ErrCrashed = errors.New("sim: the driver died")

// ErrStuck is what Drive returns when a run has not ended and waits for nothing.
var ErrStuck = errors.New("sim: the run waits for nothing that could come")

// MaxEvents bounds a run, so that one that never ends is found.
const MaxEvents = 1_000_000

// Epoch is the virtual time at which a simulation begins.
var Epoch = event.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))

// World carries attempts out. It is told of every start and says how and after how long the attempt ends. It must not
// keep its own randomness: r is drawn from the simulation's seed.
type World interface {
	Attempt(a event.Attempt, r *rand.Rand) (event.AttemptFinished, time.Duration)
}

// Faults are probabilities per opportunity, from 0 to 1. The zero value is a world without faults.
type Faults struct {
	CrashBeforeCommit float64 // the events of a batch are lost
	CrashAfterCommit  float64 // the events are kept, none of their commands is carried out
	CrashMidway       float64 // some of the commands are carried out
	Twice             float64 // an answer comes a second time
	ClockJump         float64 // the wall clock jumps by up to a day, either way
	MaxCrashes        int     // in the life of the engine; 0 means 20
}

// Options make an Engine.
type Options struct {
	Factory engine.Factory
	World   World
	Seed    uint64
	Faults  Faults
	// DeathLimit goes into driver_changed; simulations that crash a lot raise it.
	DeathLimit int
	// Slice is engine.Fold's; 0 leaves it.
	Slice int
}

// Engine implements engine.Engine.
type Engine struct {
	opts    Options
	rng     *rand.Rand
	now     event.Time // monotonic virtual time
	skew    time.Duration
	runs    map[string]*stored
	crashes int
}

// stored is what survives a crash.
type stored struct {
	start   engine.Start
	batches []journal.Batch
	inbox   []event.External
	inboxID int64
	driven  bool
	end     *event.End
}

// New makes an engine with an empty store.
func New(o Options) *Engine {
	if o.Faults.MaxCrashes == 0 {
		o.Faults.MaxCrashes = 20
	}
	return &Engine{opts: o, rng: rand.New(rand.NewPCG(o.Seed, 0x666c6f7772756e)), now: Epoch, runs: map[string]*stored{}}
}

// Now is the virtual time.
func (e *Engine) Now() event.Time { return e.now }

// Crashes is how often a driver has died.
func (e *Engine) Crashes() int { return e.crashes }

// wall is what a clock on the wall shows, jumps included.
func (e *Engine) wall() event.Time { return e.now.Add(e.skew) }

// chance draws one fault.
func (e *Engine) chance(p float64) bool { return p > 0 && e.rng.Float64() < p }

// Start implements engine.Engine. A run without an id gets one from the seed.
func (e *Engine) Start(_ context.Context, s engine.Start) (string, error) {
	if s.Header.Run == "" {
		b := binary.BigEndian.AppendUint64(nil, e.rng.Uint64())
		s.Header.Run = strings.ToLower(base32.StdEncoding.EncodeToString(b))[:12]
	}
	if _, there := e.runs[s.Header.Run]; there {
		return s.Header.Run, nil
	}
	s.Header.Format, s.Header.Created, s.First.Run = journal.Format, e.wall(), s.Header.Run
	e.runs[s.Header.Run] = &stored{start: s}
	return s.Header.Run, nil
}

// Cancel implements engine.Engine.
func (e *Engine) Cancel(_ context.Context, run, reason string) error {
	s := e.runs[run]
	if s == nil {
		return fmt.Errorf("%w: %s", engine.ErrNoRun, run)
	}
	s.inboxID++
	s.inbox = append(s.inbox, event.External{Inbox: s.inboxID, Kind: "cancel", Reason: reason})
	return nil
}

// Journal implements engine.Engine.
func (e *Engine) Journal(_ context.Context, run string, each func(journal.Batch) error) (journal.Header, []byte, error) {
	s := e.runs[run]
	if s == nil {
		return journal.Header{}, nil, fmt.Errorf("%w: %s", engine.ErrNoRun, run)
	}
	for _, b := range s.batches {
		if err := each(b); err != nil {
			return s.start.Header, s.start.Definition, err
		}
	}
	return s.start.Header, s.start.Definition, nil
}

// coming is something that will happen: an answer, or a timer.
type coming struct {
	at     event.Time
	order  uint64 // of being planned, so that ties are stable
	answer *event.AttemptFinished
	timer  uint64
}

type queue []coming

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q queue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].order < q[j].order
}
func (q *queue) Push(x any) { *q = append(*q, x.(coming)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}

// driver is one life of a driving process.
type driver struct {
	e       *Engine
	s       *stored
	fold    *engine.Fold
	watch   engine.Watcher
	queue   queue
	order   uint64
	live    map[uint64]event.Attempt
	gone    map[uint64]bool // timers that were cancelled
	pending []event.Event
}

// Drive implements engine.Engine. It returns ErrCrashed when a fault killed the driver.
func (e *Engine) Drive(ctx context.Context, run string, w engine.Watcher) (event.End, error) {
	s := e.runs[run]
	if s == nil {
		return event.End{}, fmt.Errorf("%w: %s", engine.ErrNoRun, run)
	}
	m, err := e.opts.Factory(s.start.Header, s.start.Definition)
	if err != nil {
		return event.End{}, err
	}
	d := &driver{e: e, s: s, fold: engine.NewFold(s.start.Header, m), watch: w, live: map[uint64]event.Attempt{}, gone: map[uint64]bool{}}
	if e.opts.Slice > 0 {
		d.fold.SetSlice(e.opts.Slice)
	}
	if err := d.rebuild(); err != nil {
		return event.End{}, err
	}
	for d.fold.End() == nil {
		if ctx.Err() != nil {
			return event.End{}, context.Cause(ctx)
		}
		if err := d.turn(); err != nil {
			return event.End{}, err
		}
	}
	return *d.fold.End(), nil
}

// rebuild replays the journal and plans what follows from it.
func (d *driver) rebuild() error {
	var r event.Reaction
	for _, b := range d.s.batches {
		events, err := d.fold.Replay(b, &r)
		if err != nil {
			return err
		}
		if d.watch != nil {
			d.watch(events, &r, true)
		}
	}
	if d.fold.End() != nil {
		return nil
	}
	if d.s.driven && len(d.s.batches) > 0 {
		d.pending = append(d.pending, event.Event{DriverChanged: &event.DriverChanged{Lost: true, DeathLimit: d.e.opts.DeathLimit}})
	}
	d.s.driven = true
	if len(d.s.batches) == 0 {
		first := d.s.start.First
		d.pending = append(d.pending, event.Event{RunStarted: &first})
	}
	for _, t := range d.fold.Timers() {
		d.plan(coming{at: max(d.e.now, t.Due.Add(-d.e.skew)), timer: t.Timer})
	}
	return nil
}

func (d *driver) plan(c coming) {
	d.order++
	c.order = d.order
	heap.Push(&d.queue, c)
}

// turn gathers what happens next, makes it durable, and carries out what follows.
func (d *driver) turn() error {
	e := d.e
	d.gather()
	if len(d.pending) == 0 {
		return fmt.Errorf("%w: %d live attempts", ErrStuck, len(d.live))
	}
	if d.fold.Seq() > MaxEvents {
		return fmt.Errorf("sim: more than %d events", MaxEvents)
	}
	if e.chance(e.opts.Faults.ClockJump) {
		e.skew += time.Duration(e.rng.Int64N(int64(48*time.Hour))) - 24*time.Hour
	}
	events := d.pending
	d.pending = nil
	var r event.Reaction
	batch, err := d.fold.Feed(e.wall(), events, &r)
	if err != nil {
		return err
	}
	if d.dies(e.opts.Faults.CrashBeforeCommit) {
		return ErrCrashed
	}
	d.s.batches = append(d.s.batches, batch)
	for _, ev := range events {
		if ev.External != nil {
			d.s.inbox = d.s.inbox[1:]
		}
	}
	if d.dies(e.opts.Faults.CrashAfterCommit) {
		return ErrCrashed
	}
	if d.watch != nil {
		d.watch(events, &r, false)
	}
	cut := len(r.Commands)
	dies := len(r.Commands) > 0 && d.dies(e.opts.Faults.CrashMidway)
	if dies {
		cut = e.rng.IntN(len(r.Commands))
	}
	for _, c := range r.Commands[:cut] {
		d.carryOut(c)
	}
	if dies {
		return ErrCrashed
	}
	return nil
}

func (d *driver) dies(p float64) bool {
	if d.e.crashes >= d.e.opts.Faults.MaxCrashes || !d.e.chance(p) {
		return false
	}
	d.e.crashes++
	return true
}

// gather moves the clock to the next thing that happens and takes all that has happened by then, in order.
func (d *driver) gather() {
	for i := range d.s.inbox {
		x := d.s.inbox[i]
		d.pending = append(d.pending, event.Event{External: &x})
	}
	for len(d.pending) == 0 && len(d.queue) > 0 {
		next := heap.Pop(&d.queue).(coming)
		d.e.now = max(d.e.now, next.at)
		d.take(next)
	}
	// What comes at the same moment, or while the commit was under way, shares the batch.
	for len(d.queue) > 0 && d.queue[0].at <= d.e.now && len(d.pending) < journal.MaxBatchEvents {
		d.take(heap.Pop(&d.queue).(coming))
	}
}

func (d *driver) take(c coming) {
	switch {
	case c.answer != nil:
		d.pending = append(d.pending, event.Event{AttemptFinished: c.answer})
		if _, live := d.live[c.answer.Ticket]; live && d.e.chance(d.e.opts.Faults.Twice) {
			again := *c.answer
			d.plan(coming{at: d.e.now.Add(time.Duration(d.e.rng.Int64N(int64(time.Minute)))), answer: &again})
		}
		delete(d.live, c.answer.Ticket)
	case !d.gone[c.timer]:
		d.gone[c.timer] = true
		d.pending = append(d.pending, event.Event{TimerFired: &event.TimerFired{Timer: c.timer}})
	}
}

// carryOut does one command.
func (d *driver) carryOut(c event.Command) {
	e := d.e
	switch {
	case c.Start != nil:
		a := *c.Start
		d.live[a.Ticket] = a
		answer, took := e.opts.World.Attempt(a, e.rng)
		if a.Timeout > 0 && took > a.Timeout {
			took = a.Timeout
			answer = failure(a, event.Transient, "timeout", "it did not end within "+a.Timeout.String())
		}
		answer.StartedAt = e.wall()
		d.plan(coming{at: e.now.Add(took), answer: &answer})
	case c.Cancel != nil:
		if a, live := d.live[c.Cancel.Ticket]; live {
			delete(d.live, a.Ticket) // the answer that was planned comes late, and changes nothing
			answer := failure(a, event.Transient, "cancelled", "cancelled")
			d.plan(coming{at: e.now.Add(time.Duration(e.rng.Int64N(int64(5 * time.Second)))), answer: &answer})
		}
	case c.SetTimer != nil:
		d.plan(coming{at: max(e.now, c.SetTimer.Due.Add(-e.skew)), timer: c.SetTimer.Timer})
	case c.CancelTimer != nil:
		d.gone[c.CancelTimer.Timer] = true
	case c.End != nil:
		d.s.end = c.End
	}
}

func failure(a event.Attempt, kind, reason, message string) event.AttemptFinished {
	return event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Gate: a.Gate, Outcome: event.Failed,
		Error: &event.Error{Kind: kind, Reason: reason, Message: message, ExitCode: -1}}
}

// Package sim is the host for tests: virtual time, and faults from a seed.
//
// It drives the same machines through the same engine.Fold as every host and keeps the same journal bytes, in memory.
// Nothing in it waits: the clock jumps to whatever comes next. A [World] plays the part of executors. [Faults] says how
// often things go wrong: the driver dies before or after a commit or between two commands, the clock jumps, answers come
// twice or late. Everything is drawn from one seed, so a run that went wrong goes wrong again.
//
// A simulation is single-threaded: neither Store nor Engine is safe for concurrent use. It knows no particular machine.
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
	Faults  Faults
	// DeathLimit goes into driver_changed; simulations that crash a lot raise it.
	DeathLimit int
	// Slice is engine.Fold's; 0 leaves it.
	Slice int
}

// Store is what survives a crash, and the one clock and the one source of chance of a simulation.
type Store struct {
	rng     *rand.Rand
	now     event.Time // monotonic virtual time
	skew    time.Duration
	runs    map[string]*stored
	crashes int
}

// stored is one run.
type stored struct {
	start   engine.Start
	batches []journal.Batch
	inbox   []event.External
	inboxID int64
	driven  bool
	clean   bool // the last driver stopped by itself
	ended   bool
}

// NewStore makes an empty store whose chance is drawn from a seed.
func NewStore(seed uint64) *Store {
	return &Store{rng: rand.New(rand.NewPCG(seed, 0x666c6f7772756e)), now: Epoch, runs: map[string]*stored{}}
}

// Crashes is how often a driver has died by chance.
func (s *Store) Crashes() int { return s.crashes }

// wall is what a clock on the wall shows, jumps included.
func (s *Store) wall() event.Time { return s.now.Add(s.skew) }

// chance draws one fault.
func (s *Store) chance(p float64) bool { return p > 0 && s.rng.Float64() < p }

// Engine is one process. It implements engine.Engine.
type Engine struct {
	*Store
	opts Options
	// fault, if set, is asked before and after each commit; an error is the end of the process's writing.
	fault func(after bool) error
	dead  error
}

// New starts a process on a store.
func New(s *Store, o Options) *Engine {
	if o.Faults.MaxCrashes == 0 {
		o.Faults.MaxCrashes = 20
	}
	return &Engine{Store: s, opts: o}
}

// stored finds a run.
func (e *Engine) stored(run string) (*stored, error) {
	if e.dead != nil {
		return nil, e.dead
	}
	s := e.runs[run]
	if s == nil {
		return nil, fmt.Errorf("%w: %s", engine.ErrNoRun, run)
	}
	return s, nil
}

// commit makes a change durable, or dies over it.
func (e *Engine) commit(change func()) error {
	if e.dead == nil && e.fault != nil {
		e.dead = e.fault(false)
	}
	if e.dead != nil {
		return e.dead
	}
	change()
	if e.fault != nil {
		e.dead = e.fault(true)
	}
	return e.dead
}

// Start implements engine.Engine. A run without an id gets one by chance.
func (e *Engine) Start(_ context.Context, s engine.Start) (string, error) {
	if s.Header.Run == "" {
		id := make([]byte, 8)
		binary.BigEndian.PutUint64(id, e.rng.Uint64())
		s.Header.Run = strings.ToLower(base32.StdEncoding.EncodeToString(id))[:12]
	}
	run := s.Header.Run
	if e.dead != nil || e.runs[run] != nil {
		return run, e.dead
	}
	s.Header.Format, s.Header.Created, s.First.Run = journal.Format, e.wall(), run
	m, err := e.opts.Factory(s.Header, s.Definition)
	if err != nil {
		return "", err
	}
	var out event.Reaction
	first := s.First
	b, err := engine.NewFold(s.Header, m).Feed(e.wall(), []event.Event{{RunStarted: &first}}, &out)
	if err != nil {
		return "", err
	}
	return run, e.commit(func() { e.runs[run] = &stored{start: s, batches: []journal.Batch{b}} })
}

// Cancel implements engine.Engine.
func (e *Engine) Cancel(_ context.Context, run, reason string) error {
	s, err := e.stored(run)
	if err != nil || s.ended {
		return err
	}
	return e.commit(func() {
		s.inboxID++
		s.inbox = append(s.inbox, event.External{Inbox: s.inboxID, Kind: "cancel", Reason: reason})
	})
}

// Journal implements engine.Engine.
func (e *Engine) Journal(_ context.Context, run string, each func(journal.Batch) error) (journal.Header, []byte, error) {
	s, err := e.stored(run)
	if err != nil {
		return journal.Header{}, nil, err
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
	timer  event.SetTimer
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
	taken   int64 // the last row of the inbox that is pending or journaled
}

// Drive implements engine.Engine. It returns ErrCrashed when chance killed the driver.
func (e *Engine) Drive(ctx context.Context, run string, w engine.Watcher) (event.End, error) {
	s, err := e.stored(run)
	if err != nil {
		return event.End{}, err
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
			s.clean = true
			return event.End{}, context.Cause(ctx)
		}
		if err := d.turn(ctx); err != nil {
			return event.End{}, err
		}
	}
	s.ended = true
	return *d.fold.End(), nil
}

// rebuild replays the journal and plans what follows from it. On the first drive the past is news, and what it asks for
// is still to be done.
func (d *driver) rebuild() error {
	var r event.Reaction
	for _, b := range d.s.batches {
		events, err := d.fold.Replay(b, &r)
		if err != nil {
			return err
		}
		d.show(events, &r, d.s.driven)
	}
	d.lookAround()
	first := !d.s.driven && len(d.pending) == 0
	d.s.driven = true
	switch {
	case d.fold.End() != nil:
	case first:
		d.carryOut(r.Commands)
	default: // what came in while nobody drove is fed first
		d.pending = append(d.pending, event.Event{DriverChanged: &event.DriverChanged{Lost: !d.s.clean, DeathLimit: d.e.opts.DeathLimit}})
		for _, t := range d.fold.Timers() {
			d.plan(coming{at: max(d.e.now, t.Due.Add(-d.e.skew)), timer: t})
		}
	}
	d.s.clean = false
	return nil
}

func (d *driver) show(events []event.Event, r *event.Reaction, replayed bool) {
	if d.watch != nil {
		d.watch(events, r, replayed)
	}
}

func (d *driver) plan(c coming) {
	d.order++
	c.order = d.order
	heap.Push(&d.queue, c)
}

// turn gathers what happens next, makes it durable, and carries out what follows.
func (d *driver) turn(ctx context.Context) error {
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
	var r event.Reaction
	batch, err := d.fold.Feed(e.wall(), d.pending, &r)
	if err != nil {
		return err
	}
	events := d.pending[:batch.Count:batch.Count]
	d.pending = d.pending[batch.Count:]
	if d.dies(e.opts.Faults.CrashBeforeCommit) {
		return ErrCrashed
	}
	if err := e.commit(func() { d.s.keep(batch, events) }); err != nil {
		return err
	}
	if d.dies(e.opts.Faults.CrashAfterCommit) {
		return ErrCrashed
	}
	d.show(events, &r, false)
	cut := len(r.Commands)
	dies := cut > 0 && d.dies(e.opts.Faults.CrashMidway)
	if dies {
		cut = e.rng.IntN(cut)
	}
	if ctx.Err() == nil {
		d.carryOut(r.Commands[:cut])
	}
	if dies {
		return ErrCrashed
	}
	return nil
}

// keep is what a commit changes.
func (s *stored) keep(b journal.Batch, events []event.Event) {
	s.batches = append(s.batches, b)
	for _, ev := range events {
		if ev.External != nil {
			s.inbox = s.inbox[1:]
		}
	}
}

func (d *driver) dies(p float64) bool {
	if d.e.crashes >= d.e.opts.Faults.MaxCrashes || !d.e.chance(p) {
		return false
	}
	d.e.crashes++
	return true
}

// lookAround takes what has come into the inbox.
func (d *driver) lookAround() {
	for _, x := range d.s.inbox {
		if x.Inbox > d.taken {
			d.taken = x.Inbox
			d.pending = append(d.pending, event.Event{External: &x})
		}
	}
}

// gather moves the clock to the next thing that happens and takes all that has happened by then, in order.
func (d *driver) gather() {
	d.lookAround()
	for len(d.pending) == 0 && len(d.queue) > 0 {
		next := heap.Pop(&d.queue).(coming)
		d.e.now = max(d.e.now, next.at)
		d.take(next)
	}
	// What comes at the same moment, or while the commit was under way, shares the batch.
	for len(d.queue) > 0 && d.queue[0].at <= d.e.now {
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
	case !d.gone[c.timer.Timer]:
		d.gone[c.timer.Timer] = true
		d.pending = append(d.pending, event.Event{TimerFired: &event.TimerFired{Timer: c.timer.Timer, Node: c.timer.Node}})
	}
}

func (d *driver) carryOut(commands []event.Command) {
	unwanted := engine.Unwanted(commands)
	for _, c := range commands {
		d.do(c, unwanted)
	}
}

// do carries out one command.
func (d *driver) do(c event.Command, unwanted map[uint64]bool) {
	e := d.e
	switch {
	case c.Start != nil && unwanted[c.Start.Ticket]:
		answer := failure(*c.Start, event.Fatal, "cancelled", "cancelled before it started")
		d.plan(coming{at: e.now, answer: &answer})
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
		d.plan(coming{at: max(e.now, c.SetTimer.Due.Add(-e.skew)), timer: *c.SetTimer})
	case c.CancelTimer != nil:
		d.gone[c.CancelTimer.Timer] = true
	}
}

func failure(a event.Attempt, kind, reason, message string) event.AttemptFinished {
	return event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Gate: a.Gate, Outcome: event.Failed,
		Error: &event.Error{Kind: kind, Reason: reason, Message: message, ExitCode: -1}}
}

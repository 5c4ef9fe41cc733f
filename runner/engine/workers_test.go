package engine_test

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/journal"
)

// TestConformanceOfWorkers: a host in memory, with three workers that outlive it, is a host like any other.
func TestConformanceOfWorkers(t *testing.T) {
	enginetest.Run(t, enginetest.Harness{Kind: enginetest.Blocks | enginetest.Workers, Bubble: true, NewStore: func(*testing.T) enginetest.Store {
		return &office{Pool: enginetest.Pool{Workers: 3}, runs: map[string]*record{}}
	}})
}

// office is a store with three workers.
type office struct {
	enginetest.Pool
	mu   sync.Mutex
	news sync.Cond // for all who wait for a change
	runs map[string]*record
}

// record is a run.
type record struct {
	engine.Record
	jobs   map[uint64]*job // by ticket
	driver *drive          // nil: nobody drives the run. It may be dead
	ended  bool
}

// job is an attempt in the hands of workers, until its answer is durable.
type job struct {
	event.Attempt
	cancel  context.CancelCauseFunc
	answers []event.AttemptFinished
}

// do makes a change from outside of a drive.
func (o *office) do(change func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change()
	o.news.Broadcast()
}

func (o *office) wake()                   { o.do(func() {}) }
func (o *office) Advance(d time.Duration) { time.Sleep(d) }
func (o *office) Pass(d time.Duration)    { time.Sleep(d) }

func (o *office) Open(t *testing.T, f engine.Factory, x executor.Executor) enginetest.Host {
	o.news.L = &o.mu
	h := &host{office: o, factory: f, executor: x, fault: func(bool) error { return nil }}
	t.Cleanup(h.Close)
	return h
}

// host is a process that drives runs. It parks none of them, and they share nothing.
type host struct {
	enginetest.Host
	*office
	factory  engine.Factory
	executor executor.Executor
	dead     error
	fault    func(after bool) error
}

// commit makes a change durable, or the host dies over it. The office is locked.
func (h *host) commit(change func()) error {
	if h.dead = cmp.Or(h.dead, h.fault(false)); h.dead == nil {
		change()
		h.dead = h.fault(true)
	}
	h.news.Broadcast()
	return h.dead
}

func (h *host) die(err error) { h.do(func() { h.dead = cmp.Or(h.dead, err) }) }
func (h *host) Crash()        { h.die(enginetest.ErrCrashed) }
func (h *host) Close()        { h.die(engine.ErrClosed) }
func (h *host) CrashAt(n int, after bool) {
	h.do(func() { h.fault = enginetest.FaultAt(n, after, func() error { return enginetest.ErrCrashed }) })
}

// with finds a run, and keeps the office locked meanwhile.
func (h *host) with(run string, do func(*record) error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.runs[run]; r != nil && h.dead == nil {
		return do(r)
	}
	return cmp.Or(h.dead, engine.ErrNoRun)
}

func (h *host) Start(_ context.Context, s engine.Start) (run string, err error) {
	h.do(func() { run, err = h.makeRun(s) })
	return run, err
}

func (h *host) makeRun(s engine.Start) (string, error) {
	s.Header.Run = cmp.Or(s.Header.Run, engine.NewID())
	s.Header.Created, s.First.Run = event.At(time.Now()), s.Header.Run
	return s.Header.Run, h.commit(func() {
		if h.runs[s.Header.Run] == nil {
			h.runs[s.Header.Run] = &record{Record: engine.Record{Start: s}, jobs: map[uint64]*job{}}
		}
	})
}

func (h *host) Journal(_ context.Context, run string, each func(journal.Batch) error) (header journal.Header, definition []byte, err error) {
	err = h.with(run, func(r *record) (err error) { header, definition, err = r.Read(each); return err })
	return header, definition, err
}

func (h *host) Cancel(ctx context.Context, run, reason string) error {
	return h.Signal(ctx, run, event.External{Kind: event.ExternalCancel, Reason: reason})
}

func (h *host) Signal(_ context.Context, run string, x event.External) error {
	return h.with(run, func(r *record) (err error) {
		dead := h.commit(func() { err = r.Inbox.Signal(x, enginetest.Externals, r.ended) })
		return cmp.Or(dead, err)
	})
}

// drive is a run in the hands of a host.
type drive struct {
	*host
	*record
	*engine.Session
	ctx   context.Context
	watch engine.Watcher
	began time.Time
}

func (h *host) Drive(ctx context.Context, run string, w engine.Watcher) (end event.End, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(ctx, h.wake)()
	err = h.with(run, func(r *record) error {
		d := &drive{host: h, record: r, ctx: ctx, watch: w, began: time.Now()}
		end, err = d.toEnd()
		if r.driver == d && h.dead == nil {
			r.driver = nil
		}
		return err
	})
	return end, err
}

// toEnd drives the run. The office is free while it waits, and while others are called.
func (d *drive) toEnd() (event.End, error) {
	if d.driver != nil && d.driver.dead == nil {
		return event.End{}, engine.ErrOwned
	}
	t := engine.Takeover{First: &d.Record.Start.First, Driven: len(d.Batches) > 0, Changed: event.DriverChanged{Lost: d.driver != nil}}
	session, err := d.record.Session(d.factory)
	if err == nil {
		session.SetWindow(engine.Window{Attempts: 8})
		d.Session, d.driver = session, d
		_, err = d.Record.Rebuild(session, func(r *engine.Round) { d.show(r, true) })
	}
	if err != nil {
		return event.End{}, err
	}
	if t.Driven {
		d.look()
	}
	t.Changed.Kept = slices.Collect(maps.Keys(d.jobs))
	d.Begin(t)
	for _, j := range d.jobs { // any order: each answer is for one attempt
		d.hear(j)
	}
	for d.Fold().End() == nil {
		if err := d.turn(); err != nil {
			return event.End{}, err
		}
	}
	return *d.Fold().End(), nil
}

// turn makes a round of what has come, or waits.
func (d *drive) turn() error {
	if err := cmp.Or(d.dead, context.Cause(d.ctx)); err != nil {
		return err
	}
	now := d.Now(event.At(time.Now()), time.Since(d.began))
	d.look()
	d.Fire(now, journal.MaxBatchEvents)
	if d.act(nil); len(d.Queued()) == 0 {
		if due, ok := d.NextTimer(); ok {
			defer time.AfterFunc(due.Sub(now), d.wake).Stop()
		}
		d.news.Wait()
		return nil
	}
	r, err := d.Feed(now)
	if err == nil {
		err = d.commit(func() { d.keep(r) })
	}
	if err == nil {
		d.act(r)
		d.show(r, false)
		d.Reuse(r)
	}
	return err
}

func (d *drive) look() {
	for _, x := range d.Inbox.Waiting {
		d.Message(x)
	}
}

// hear takes what the worker of an attempt has left.
func (d *drive) hear(j *job) {
	for i := range j.answers {
		d.Answer(&j.answers[i])
	}
	if d.jobs[j.Ticket] != j {
		d.GiveBack(j.Attempt)
	}
}

func (d *drive) show(r *engine.Round, replayed bool) {
	if d.watch != nil {
		d.mu.Unlock()
		defer d.mu.Lock()
		d.watch(r.Events, &r.Out, replayed)
	}
}

// keep makes a batch durable, and forgets what it holds.
func (d *drive) keep(r *engine.Round) {
	d.Keep(r.Batch, r.Events)
	d.ended = d.Fold().End() != nil
	for _, ev := range r.Events {
		if ev.AttemptFinished != nil {
			delete(d.jobs, ev.AttemptFinished.Ticket)
		}
	}
}

// act does what the session says.
func (d *drive) act(r *engine.Round) {
	for x := range d.Effects(r) {
		switch {
		case x.Start != nil:
			ctx, cancel := context.WithCancelCause(context.Background())
			j := &job{Attempt: *x.Start, cancel: cancel}
			d.jobs[j.Ticket] = j
			go d.work(ctx, j)
		case x.Cancel != nil && d.jobs[x.Cancel.Ticket] != nil:
			d.jobs[x.Cancel.Ticket].cancel(executor.Cancelled)
		case x.Child != nil && x.Wish.Cancels > 0 && d.runs[x.Child.Run] == nil:
			d.ChildEnded(engine.Unmade(*x.Child))
		case x.Child != nil:
			_, _ = d.makeRun(engine.Child(*d.Session.Start(), *x.Child)) // a dead host ends the drive
			d.cancelUpTo(x.Child.Run, x.Wish)
			go d.call(*x.Child)
		case x.CancelChild != "":
			d.cancelUpTo(x.CancelChild, x.Wish)
		}
	}
}

// work lets a worker carry an attempt out. The attempt outlives the drive.
func (d *drive) work(ctx context.Context, j *job) {
	answers := d.CarryOut(ctx, d.executor, j.Attempt)
	d.do(func() {
		if j.answers = answers; len(answers) == 0 {
			delete(d.jobs, j.Ticket)
		}
		if d.driver != nil {
			d.driver.hear(j)
		}
	})
}

func (d *drive) call(ask event.StartChild) {
	if end, err := d.Drive(d.ctx, ask.Run, nil); err == nil {
		d.do(func() { d.ChildEnded(engine.Finished(ask, end)) })
	}
}

func (d *drive) cancelUpTo(run string, w engine.Wish) {
	if r := d.runs[run]; r != nil && !r.ended && r.Inbox.Cancels < w.Cancels {
		_ = d.commit(func() { _ = r.Inbox.CancelUpTo(w) }) // a reason is never refused, and a dead host ends the drive
	}
}

package engine_test

import (
	"cmp"
	"context"
	"fmt"
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

// TestConformanceOfWorkers: a host in memory, with three workers that outlive it, is a host like any other. Each attempt is given back once,
// before a worker begins with it.
func TestConformanceOfWorkers(t *testing.T) {
	enginetest.Run(t, enginetest.Harness{Kind: enginetest.Blocks | enginetest.Workers, Bubble: true, NewStore: func(*testing.T) enginetest.Store {
		return &office{runs: map[string]*file{}, drained: map[string]bool{}}
	}})
}

// office is a store with three workers.
type office struct {
	mu      sync.Mutex
	runs    map[string]*file
	work    chan *job
	jobs    []*job          // those that workers have
	drained map[string]bool // by run and ticket
	double  bool
	hosts   int64
}

// file is a run.
type file struct {
	start   engine.Start
	batches []journal.Batch
	inbox   []event.External
	last    int64 // message
	cancels int
	over    bool
	driver  *host
	driven  bool
	lost    bool // the last driver died
	mail    []*mail
	news    chan struct{} // holds a token when there is mail, or a message
	kept    map[uint64]*job
}

// mail is what a run hears of its attempts and children, until that is durable.
type mail struct {
	answer *event.AttemptFinished
	back   *event.Attempt
	end    *event.ChildFinished
	to     *host // for an end: whoever called; who drives after it calls once more
	taken  *host
}

// job is an attempt with the workers.
type job struct {
	event.Attempt
	run   *file
	do    executor.Executor
	ctx   context.Context
	end   context.CancelCauseFunc
	leave chan *mail // the worker goes, and leaves this
}

func (f *file) post(m *mail) {
	f.mail = append(f.mail, m)
	f.poke()
}

func (f *file) poke() {
	select {
	case f.news <- struct{}{}:
	default:
	}
}

func (o *office) Advance(d time.Duration) { time.Sleep(d) }
func (o *office) Pass(d time.Duration)    { time.Sleep(d) }

func (o *office) Open(t *testing.T, f engine.Factory, x executor.Executor) enginetest.Host {
	if o.work == nil {
		o.work = make(chan *job, 1<<16)
		for range 3 {
			go o.worker()
		}
		t.Cleanup(func() { close(o.work) })
	}
	o.hosts++
	h := &host{office: o, factory: f, executor: x, number: o.hosts, killed: make(chan struct{})}
	t.Cleanup(h.Close)
	return h
}

// worker carries out one attempt after the other.
func (o *office) worker() {
	for j := range o.work {
		name := fmt.Sprint(j.Run, j.Ticket)
		o.mu.Lock()
		if drains := !o.drained[name]; drains || j.ctx.Err() != nil {
			o.drained[name] = true
			if never := engine.NeverStarted(j.Attempt); drains {
				j.run.post(&mail{back: &j.Attempt})
			} else {
				j.run.post(&mail{answer: &never})
			}
			o.mu.Unlock()
			continue
		}
		o.jobs = append(o.jobs, j)
		o.mu.Unlock()
		done := make(chan event.AttemptFinished, 1)
		go func() { done <- j.do.Execute(j.ctx, j.Attempt) }()
		var m *mail
		select {
		case f := <-done:
			m = &mail{answer: &f}
		case m = <-j.leave:
		}
		o.mu.Lock()
		o.jobs = slices.DeleteFunc(o.jobs, func(other *job) bool { return other == j })
		if j.run.post(m); o.double && m.answer != nil {
			again := *m.answer
			j.run.post(&mail{answer: &again})
		}
		o.mu.Unlock()
	}
}

// host is a process that drives runs. It parks none of them, and they share nothing.
type host struct {
	engine.Parker
	engine.Sharer
	*office
	factory  engine.Factory
	executor executor.Executor
	number   int64
	dead     error
	killed   chan struct{}
	commits  int // until the host dies; 0: it does not
	after    bool
}

// commit makes a change durable, or dies over it. o.mu is locked.
func (h *host) commit(change func()) error {
	h.commits--
	if h.commits == 0 && !h.after {
		h.die(enginetest.ErrCrashed)
	}
	if h.dead != nil {
		return h.dead
	}
	change()
	if h.commits == 0 {
		h.die(enginetest.ErrCrashed)
	}
	return h.dead
}

func (h *host) die(err error) {
	if h.dead == nil {
		h.dead = err
		close(h.killed)
	}
}

func (h *host) locked(do func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	do()
}

func (h *host) CrashAt(n int, after bool) { h.locked(func() { h.commits, h.after = n, after }) }
func (h *host) BreakAt(int)               { panic("other kinds of hosts break") }
func (h *host) Crash()                    { h.locked(func() { h.die(enginetest.ErrCrashed) }) }
func (h *host) Close()                    { h.locked(func() { h.die(engine.ErrClosed) }) }
func (h *host) Double()                   { h.locked(func() { h.double = true }) }
func (h *host) Drain(task string) {
	h.leave(task, func(a event.Attempt) *mail { return &mail{back: &a} })
}
func (h *host) Lose(task, why string) {
	h.leave(task, func(a event.Attempt) *mail { f := engine.LostAlone(a, why); return &mail{answer: &f} })
}

func (h *host) leave(task string, with func(event.Attempt) *mail) {
	h.locked(func() {
		at := slices.IndexFunc(h.jobs, func(j *job) bool { return j.Name == task })
		h.jobs[at].leave <- with(h.jobs[at].Attempt)
	})
}

func (h *host) find(run string) (*file, error) {
	if f := h.runs[run]; f != nil || h.dead != nil {
		return f, h.dead
	}
	return nil, fmt.Errorf("%w: %s", engine.ErrNoRun, run)
}

func (h *host) Start(_ context.Context, s engine.Start) (string, error) {
	s.Header.Run = cmp.Or(s.Header.Run, engine.NewID())
	s.Header.Created, s.First.Run = event.At(time.Now()), s.Header.Run
	m, err := h.factory(s.Header, s.Definition)
	if err != nil {
		return "", err
	}
	session := engine.NewSession(s, m)
	session.Queue(event.Event{RunStarted: &s.First})
	r, err := session.Feed(s.Header.Created)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil && h.runs[s.Header.Run] == nil {
		err = h.commit(func() {
			h.runs[s.Header.Run] = &file{start: s, batches: []journal.Batch{r.Batch}, news: make(chan struct{}, 1), kept: map[uint64]*job{}}
		})
	}
	return s.Header.Run, err
}

func (h *host) Journal(_ context.Context, run string, each func(journal.Batch) error) (header journal.Header, definition []byte, err error) {
	h.mu.Lock()
	f, err := h.find(run)
	if err != nil {
		h.mu.Unlock()
		return header, nil, err
	}
	batches := slices.Clone(f.batches)
	h.mu.Unlock()
	for i := 0; i < len(batches) && err == nil; i++ {
		err = each(batches[i])
	}
	return f.start.Header, f.start.Definition, err
}

func (h *host) Cancel(ctx context.Context, run, reason string) error {
	return h.Signal(ctx, run, event.External{Kind: event.ExternalCancel, Reason: reason})
}

func (h *host) Signal(_ context.Context, run string, x event.External) error {
	packed, err := engine.PackExternal(x, enginetest.Externals)
	h.mu.Lock()
	defer h.mu.Unlock()
	f, missing := h.find(run)
	cancel := x.Kind == event.ExternalCancel
	switch err = cmp.Or(err, missing); {
	case err != nil || f.over && cancel:
		return err
	case f.over:
		return fmt.Errorf("%w: %s", engine.ErrEnded, run)
	case len(f.inbox) >= engine.MaxInbox && !cancel:
		return fmt.Errorf("%w: %s", engine.ErrInboxFull, run)
	}
	return h.commit(func() { f.tell(packed) })
}

func (f *file) tell(packed []byte) {
	f.last++
	x, _ := engine.UnpackExternal(f.last, packed) // PackExternal has made it
	if f.inbox = append(f.inbox, x); x.Kind == event.ExternalCancel {
		f.cancels++
	}
	f.poke()
}

// drive is a run in the hands of a host.
type drive struct {
	*host
	*engine.Session
	file  *file
	ctx   context.Context
	watch engine.Watcher
	began time.Time
}

func (h *host) Drive(ctx context.Context, run string, w engine.Watcher) (event.End, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f, err := h.find(run)
	if err == nil && f.driver != nil && f.driver.dead == nil {
		err = fmt.Errorf("%w: %s", engine.ErrOwned, run)
	}
	if err != nil {
		return event.End{}, err
	}
	f.driver = h
	m, err := h.factory(f.start.Header, f.start.Definition)
	if err != nil {
		return event.End{}, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	d := &drive{host: h, Session: engine.NewSession(f.start, m), file: f, ctx: ctx, watch: w, began: time.Now()}
	err = d.drive()
	if f.driver == h {
		f.driver, f.lost = nil, h.dead != nil
	}
	if err != nil {
		return event.End{}, cmp.Or(h.dead, err)
	}
	return *d.Fold().End(), nil
}

// drive is called with o.mu locked, and lets go of it while it waits and while others are called.
func (d *drive) drive() error {
	d.SetWindow(engine.Window{Attempts: 8})
	var last *engine.Round
	for _, b := range d.file.batches {
		r, err := d.Rebuild(b)
		if err != nil {
			return err
		}
		d.show(r, d.file.driven)
		last = r
	}
	if d.Fold().End() != nil {
		return nil
	}
	changed := event.DriverChanged{Lost: d.file.lost, Driver: d.number}
	for ticket := range d.file.kept { // any order: a set
		changed.Kept = append(changed.Kept, ticket)
	}
	d.look()
	if d.Begin(engine.Takeover{Driven: d.file.driven, Fresh: true, Changed: changed}) == engine.Acts {
		d.act(last)
	}
	d.file.driven, d.file.lost = true, false
	for d.Fold().End() == nil {
		if err := cmp.Or(d.dead, context.Cause(d.ctx)); err != nil {
			return err
		}
		d.collect()
		if d.Waiting() {
			d.act(nil)
		}
		if len(d.Queued()) == 0 {
			d.wait()
			continue
		}
		r, err := d.Feed(d.now())
		if err == nil {
			err = d.commit(func() { d.keep(r) })
		}
		if err != nil {
			return err
		}
		d.show(r, false)
		d.act(r)
		d.Reuse(r)
	}
	return nil
}

func (d *drive) now() event.Time { return d.Now(event.At(time.Now()), time.Since(d.began)) }

func (d *drive) show(r *engine.Round, replayed bool) {
	if d.watch != nil {
		d.mu.Unlock()
		defer d.mu.Lock()
		d.watch(r.Events, &r.Out, replayed)
	}
}

// keep makes a batch durable, and forgets what it holds.
func (d *drive) keep(r *engine.Round) {
	f := d.file
	f.batches, f.over = append(f.batches, r.Batch), d.Fold().End() != nil
	for _, ev := range r.Events {
		if ev.External != nil {
			f.inbox = slices.DeleteFunc(f.inbox, func(x event.External) bool { return x.Inbox == ev.External.Inbox })
		}
		if ev.AttemptFinished != nil {
			delete(f.kept, ev.AttemptFinished.Ticket)
		}
		f.mail = slices.DeleteFunc(f.mail, func(m *mail) bool {
			return m.answer != nil && m.answer == ev.AttemptFinished || m.end != nil && ev.ChildFinished != nil && m.end.Run == ev.ChildFinished.Run
		})
	}
}

func (d *drive) look() {
	for _, x := range d.file.inbox {
		d.Message(x)
	}
}

// collect takes what has come.
func (d *drive) collect() {
	d.look()
	for _, m := range slices.Clone(d.file.mail) {
		switch {
		case m.taken == d.host:
		case m.to != nil && m.to != d.host:
			d.file.mail = slices.DeleteFunc(d.file.mail, func(other *mail) bool { return other == m })
			continue
		case m.back != nil:
			d.file.mail = slices.DeleteFunc(d.file.mail, func(other *mail) bool { return other == m })
			delete(d.file.kept, m.back.Ticket)
			d.GiveBack(*m.back)
		case m.answer != nil:
			d.Answer(m.answer)
		case m.end != nil:
			d.ChildEnded(*m.end)
		}
		m.taken = d.host
	}
	d.Fire(d.now(), journal.MaxBatchEvents)
}

func (d *drive) wait() {
	long := time.Hour
	if due, ok := d.NextTimer(); ok {
		long = due.Sub(d.now())
	}
	d.mu.Unlock()
	defer d.mu.Lock()
	select {
	case <-time.After(long):
	case <-d.file.news:
	case <-d.ctx.Done():
	case <-d.killed:
	}
}

// act does what the session says.
func (d *drive) act(r *engine.Round) {
	for x := range d.Effects(r) {
		switch {
		case x.Start != nil:
			j := &job{Attempt: *x.Start, run: d.file, do: d.executor, leave: make(chan *mail, 1)}
			j.ctx, j.end = context.WithCancelCause(context.Background())
			d.file.kept[j.Ticket] = j
			d.work <- j
		case x.Cancel != nil && d.file.kept[x.Cancel.Ticket] != nil:
			d.file.kept[x.Cancel.Ticket].end(executor.Cancelled)
		case x.Child != nil:
			d.call(*x.Child, x.Wish)
		case x.CancelChild != "" && d.runs[x.CancelChild] != nil:
			d.cancel(x.CancelChild, x.Wish)
		}
	}
}

func (d *drive) cancel(run string, w engine.Wish) {
	packed, _ := engine.PackExternal(event.External{Kind: event.ExternalCancel, Reason: w.Reason}, nil) // it is small
	for f := d.runs[run]; f.cancels < w.Cancels && !f.over; {
		if d.commit(func() { f.tell(packed) }) != nil {
			return
		}
	}
}

// call makes a child and drives it.
func (d *drive) call(ask event.StartChild, w engine.Wish) {
	if d.runs[ask.Run] == nil {
		if w.Cancels > 0 {
			d.ChildEnded(engine.Unmade(ask))
			return
		}
		d.mu.Unlock()
		_, err := d.host.Start(d.ctx, engine.Child(*d.Session.Start(), ask))
		d.mu.Lock()
		if err != nil {
			return // the host is dead
		}
	}
	d.cancel(ask.Run, w)
	go func() {
		end, err := d.Drive(d.ctx, ask.Run, nil)
		if err == nil {
			f := engine.Finished(ask, end)
			d.locked(func() { d.file.post(&mail{end: &f, to: d.host}) })
		}
	}()
}

package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/flowrun/flowrun/runner/admission"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/heap"
	"github.com/flowrun/flowrun/runner/shared"
)

// coming is something that will happen: an answer, or a timer that fires though it must not.
type coming struct {
	at     event.Time
	order  uint64 // of being planned, so that ties are stable
	answer *event.AttemptFinished
	timer  event.SetTimer
	refuse uint64 // the ticket of an attempt whose patience ends
	look   *look  // the next look of an attempt that watches a source
	back   *event.Attempt
	// outsider is the key of a request of another process, which ends: see line.
	outsider string
}

// Before implements heap.Heap.
func (c coming) Before(other coming) bool {
	return c.at < other.at || c.at == other.at && c.order < other.order
}

// look is an attempt that watches a source: how often it has looked, how long it has waited, and what it saw last.
type look struct {
	event.Attempt
	looks  int
	waited time.Duration
	last   event.AttemptFinished
}

// driver is one run in one life of a driving process: what a session needs of the outside, played by chance.
type driver struct {
	e       *Engine
	s       *stored
	life    *life
	parent  *driver          // nil for the run that the process was asked to drive
	ask     event.StartChild // of the parent
	session *engine.Session
	watch   engine.Watcher
	queue   heap.Heap[coming]
	order   uint64
	live    map[uint64]event.Attempt
	set     map[uint64]event.SetTimer // timers that were set, if they may fire twice, or though they were cancelled
	asks    asks
	stands  event.Time // until when the driver stands still: see Halt
}

// life is one drive: the run that the process was asked to drive, and the runs that it calls.
type life struct {
	e       *Engine
	parks   bool      // it ends when the runs can be parked
	drivers []*driver // in the order in which they began
	waiting []*call   // runs that wait for their turns
	err     error     // of admission: see fail
	lines   uint64    // Store.changes when letTurnsIn looked last
}

// call is a called run that waits for its turn.
type call struct {
	parent *driver
	ask    event.StartChild
}

// Drive implements engine.Engine. It returns ErrCrashed when chance killed the process.
func (e *Engine) Drive(ctx context.Context, run string, w engine.Watcher) (event.End, error) {
	return e.driveRun(ctx, run, w, false)
}

func (e *Engine) driveRun(ctx context.Context, run string, w engine.Watcher, parks bool) (end event.End, err error) {
	s, err := e.stored(run)
	if err != nil {
		return end, err
	}
	epoch := e.register()
	if by := s.parked.process; by != epoch && e.alive[by] || by == epoch && s.parked.top != run {
		return end, fmt.Errorf("%w: run %s, which is parked there", engine.ErrOwned, run)
	}
	p := &life{e: e, parks: parks}
	p.forgetDead()
	in, err := e.joinLine(run)
	switch {
	case err != nil:
	case in:
		end, err = p.drive(ctx, run, w)
	case parks:
		err = p.parkRuns(run)
	default:
		err = fmt.Errorf("%w: run %s waits for its turn behind run %s", ErrStuck, run, e.runAhead(e.findTurn(run)))
	}
	switch {
	case errors.Is(err, ErrCrashed):
		e.Close()
	case e.dead == nil && !errors.Is(err, engine.ErrParked): // a parked run keeps its turn
		p.stop()
		e.leaveLine(run)
	}
	return end, err
}

func (p *life) drive(ctx context.Context, run string, w engine.Watcher) (event.End, error) {
	d, err := p.take(run, w)
	for err == nil && d.end() == nil {
		if ctx.Err() != nil {
			return event.End{}, context.Cause(ctx)
		}
		if err = p.letIn(); err != nil {
			break
		}
		if p.canPark() {
			return event.End{}, p.parkRuns(run)
		}
		if err = p.momentsUntilNext(); err != nil {
			break
		}
		if err = p.next().turn(ctx); p.err != nil {
			err = p.err
		}
	}
	if err != nil {
		return event.End{}, err
	}
	d.s.ended = true
	return *d.end(), nil
}

// end is the end of the run; nil while it has none.
func (d *driver) end() *event.End { return d.session.Fold().End() }

// now is the time of the run.
func (d *driver) now() event.Time { return d.session.Now(d.e.wall(), d.e.stopwatch()) }

func (s *Store) stopwatch() time.Duration { return s.now.Sub(Epoch) }

// timer is when the next timer of the run is due, by the time of the simulation; ok is false if none is set.
func (d *driver) timer() (at event.Time, ok bool) {
	due, ok := d.session.NextTimer()
	return d.e.now.Add(max(0, due.Sub(d.now()))), ok
}

// stop lets go of all runs: those that have not ended were stopped in order.
func (p *life) stop() {
	for len(p.drivers) > 0 {
		p.drop(p.drivers[0])
	}
}

// take makes the process the driver of a run.
func (p *life) take(run string, w engine.Watcher) (*driver, error) {
	e := p.e
	s, err := e.stored(run)
	if err != nil {
		return nil, err
	}
	session, err := s.Session(e.opts.Factory)
	if err != nil {
		return nil, err
	}
	d := &driver{e: e, s: s, life: p, watch: w, live: map[uint64]event.Attempt{}, asks: newAsks()}
	d.setSession(session)
	p.drivers = append(p.drivers, d)
	err = d.rebuild()
	if err != nil { // nothing was carried out: the run is as it was
		p.drivers = slices.DeleteFunc(p.drivers, func(x *driver) bool { return x == d })
	}
	return d, err
}

// next is the run in which something happens next: what waits for its commit first, then by time, then in the order in
// which they began. One that has ended hands its end to its parent here.
func (p *life) next() *driver {
	p.goOn()
	var first *driver
	var when event.Time
	known := false
	for _, d := range slices.Clone(p.drivers) {
		d.lookAround()
		switch at, ok := d.nextAt(); {
		case d.end() != nil && d.parent == nil, known && when == 0:
		case d.end() != nil:
			p.drop(d)
			f := engine.Finished(d.ask, *d.end())
			_ = event.Shorten(&f, p.e.put) // if it fails, the end is whole
			d.parent.session.ChildEnded(f)
			return d.parent
		case first == nil, ok && (!known || at < when):
			first, when, known = d, at, ok
		}
	}
	if at := p.e.lineMoment(); at != 0 && (!known || at < when) {
		p.e.now = max(p.e.now, at)
		return p.next()
	}
	if known {
		p.e.now = max(p.e.now, first.stands)
	}
	return first
}

// nextAt is when something happens in the run next: 0 for at once. It reports whether anything is known to come.
func (d *driver) nextAt() (at event.Time, ok bool) {
	if len(d.session.Queued()) == 0 {
		if at, ok = d.timer(); len(d.queue) > 0 && (!ok || d.queue[0].at < at) {
			at, ok = d.queue[0].at, true
		}
		if !ok {
			return 0, false
		}
	}
	if d.stands > d.e.now {
		at = max(at, d.stands)
	}
	return at, true
}

// momentsUntilNext lets the moments happen that come before anything else does.
func (p *life) momentsUntilNext() error {
	for e := p.e; len(e.opts.Moments) > 0; {
		m := e.opts.Moments[0]
		if m.At > e.now && p.readyBefore(m.At) {
			return nil
		}
		e.opts.Moments, e.now = e.opts.Moments[1:], max(e.now, m.At)
		if err := m.Do(); err != nil {
			return err
		}
	}
	return nil
}

// readyBefore reports whether something happens in the runs or in the lines before a moment.
func (p *life) readyBefore(moment event.Time) bool {
	at := p.e.lineMoment()
	return at != 0 && at < moment || slices.ContainsFunc(p.drivers, func(d *driver) bool { return d.ready(moment) })
}

// ready reports whether something happens in the run before a moment.
func (d *driver) ready(moment event.Time) bool {
	d.lookAround()
	at, ok := d.nextAt()
	return ok && at < moment || d.end() != nil
}

// expects tells whether something is still to come in any of the runs, or from outside.
func (p *life) expects() bool {
	return p.e.lineMoment() != 0 || len(p.e.opts.Moments) > 0 || slices.ContainsFunc(p.drivers, func(d *driver) bool {
		d.lookAround()
		_, ok := d.nextAt()
		return ok
	})
}

// drop lets go of a run that has ended, and of children that it did not wait for.
func (p *life) drop(d *driver) {
	d.s.clean = true
	d.leaveLine()
	p.e.leaveLine(d.run())
	p.drivers = slices.DeleteFunc(p.drivers, func(x *driver) bool { return x == d })
	p.waiting = slices.DeleteFunc(p.waiting, func(k *call) bool {
		if k.parent == d {
			p.e.leaveLine(k.ask.Run)
		}
		return k.parent == d
	})
	for _, x := range slices.Clone(p.drivers) {
		if x.parent == d {
			p.drop(x)
		}
	}
}

func (d *driver) run() string { return d.s.Start.Header.Run }

// rebuild replays the journal and plans what follows from it. On the first drive the past is news, and what it asks for
// is still to be done. A parked run goes on as if it had been driven all the time.
func (d *driver) rebuild() error {
	t := engine.Takeover{Driven: d.s.driven, Calls: true, Stopwatch: d.e.stopwatch(),
		Parked:  d.s.parked.process == d.e.epoch && !d.s.parked.waits, // for its turn, while nobody drove it
		Changed: event.DriverChanged{Lost: d.s.driven && !d.s.clean, DeathLimit: d.e.opts.DeathLimit}}
	d.s.parked = parked{}
	last, err := d.s.Rebuild(d.session, func(r *engine.Round) { d.show(r.Events, &r.Out, d.s.driven) })
	if err != nil {
		return err
	}
	d.s.driven = true
	if d.end() != nil {
		d.s.ended, d.s.clean = true, false
		return nil
	}
	if d.e.opts.Restore != nil && last != nil {
		if err := d.restore(); err != nil {
			return err
		}
	}
	if last == nil { // the run waited for its turn, or was cancelled meanwhile
		first := d.s.Start.First
		t.First = &first
	}
	t.Fresh = d.e.wall() <= d.session.Fold().Last()
	d.lookAround()
	how := d.session.Begin(t)
	d.noteTimers(d.session.Fold().Timers()...)
	d.s.clean = false
	switch how {
	case engine.Acts:
		return d.carryOut(last, math.MaxInt)
	case engine.Continues:
		d.recallRequests()
		if d.e.diesParked() {
			return ErrCrashed
		}
		return d.carryOut(nil, math.MaxInt)
	}
	return nil
}

// restore goes on from the state of the session, as a process does that finds one.
func (d *driver) restore() error {
	start := *d.session.Start()
	state, err := d.session.Fold().State()
	if err != nil {
		return err
	}
	s, err := engine.RestoreSession(start, state, func(state []byte) (engine.Machine, error) {
		return d.e.opts.Restore(start.Header, start.Definition, state)
	})
	if err == nil {
		d.setSession(s)
	}
	return err
}

func (d *driver) setSession(s *engine.Session) {
	d.session = s
	s.SetWindow(d.e.opts.Window)
	if d.e.opts.Slice > 0 {
		s.Fold().SetSlice(d.e.opts.Slice)
	}
}

func (d *driver) show(events []event.Event, r *event.Reaction, replayed bool) {
	if d.watch != nil {
		d.watch(events, r, replayed)
	}
	if d.e.opts.Watch != nil {
		d.e.opts.Watch(d.s.Start.Header.Run, events, r, replayed)
	}
}

func (d *driver) plan(c coming) {
	d.order++
	c.order = d.order
	d.queue.Push(c)
}

// answerOnce leaves the first of the answers that are planned for an attempt.
func (d *driver) answerOnce(ticket uint64) {
	planned, answered := d.queue, false
	d.queue = nil
	for len(planned) > 0 {
		c := planned.Pop()
		if c.answer != nil && c.answer.Ticket == ticket {
			if answered {
				continue
			}
			answered = true
		}
		d.queue.Push(c)
	}
}

// turn gathers what happens next, makes it durable, and carries out what follows.
func (d *driver) turn(ctx context.Context) error {
	e := d.e
	if d.gather(); d.session.Waiting() {
		if err := d.carryOut(nil, math.MaxInt); err != nil {
			return err
		}
	}
	if len(d.session.Queued()) == 0 && d.life.expects() {
		return nil // what was due here had been taken back
	}
	if len(d.session.Queued()) == 0 {
		return fmt.Errorf("%w: %d live attempts", ErrStuck, len(d.live))
	}
	if d.session.Fold().Seq() > MaxEvents {
		return fmt.Errorf("sim: more than %d events", MaxEvents)
	}
	if e.strikes(e.opts.Faults.ClockJump, &e.struck.Jumps) {
		e.skew += time.Duration(e.rng.Int64N(int64(48*time.Hour))) - 24*time.Hour
	}
	d.noteEnds(d.session.Queued())
	r, err := d.session.Feed(d.now())
	if err != nil {
		return err
	}
	if e.dies(e.opts.Faults.CrashBeforeCommit) {
		return ErrCrashed
	}
	var lost error
	var granted []*admission.Request
	err = e.commit(func() {
		d.s.keep(r.Batch, r.Events, d.e.Store)
		granted = d.release(r.Events)
		for _, key := range engine.Leaves(r.Out.Commands) {
			lost = errors.Join(lost, shared.Withdraw(&e.shared, d.run(), key))
		}
		lost = errors.Join(lost, shared.ApplyAsks(&e.shared, d.run(), engine.Asks(r.Out.Commands), e.wall()))
		due, idle := d.session.Fold().Due()
		lost = errors.Join(lost, shared.NoteRest(&e.shared, d.run(), shared.RestOf(&d.s.Start.First, due, idle)))
		if end := d.end(); end != nil {
			lost = errors.Join(lost, shared.EndRun(&e.shared, shared.EndOf(&d.s.Start.First, end), e.wall()))
		}
	})
	if err = cmp.Or(err, lost); err != nil {
		return err
	}
	if err := d.startSuccessor(ctx); err != nil {
		return err
	}
	if e.dies(e.opts.Faults.CrashAfterCommit) {
		return ErrCrashed
	}
	if e.strikes(e.opts.Faults.Slow, &e.struck.Slow) {
		e.now = e.now.Add(time.Duration(e.rng.Int64N(int64(time.Minute))))
	}
	d.show(r.Events, &r.Out, false)
	for _, r := range granted {
		if err := d.life.wake(r); err != nil {
			return err
		}
	}
	cut := len(r.Out.Commands)
	dies := cut > 0 && e.dies(e.opts.Faults.CrashMidway)
	if dies {
		cut = e.rng.IntN(cut)
	}
	if d.end() != nil {
		d.s.ended = true
	}
	if ctx.Err() == nil {
		d.planStale(r)
		if err := d.carryOut(r, cut); err != nil {
			return err
		}
	}
	if dies {
		return ErrCrashed
	}
	d.session.Reuse(r)
	return nil
}

// noteTimers remembers timers that may fire though they must not.
func (d *driver) noteTimers(set ...event.SetTimer) {
	for _, t := range set {
		if d.e.opts.Faults.Twice > 0 {
			if d.set == nil {
				d.set = map[uint64]event.SetTimer{}
			}
			d.set[t.Timer] = t
		}
	}
}

// planStale plans that timers fire a second time, and that those fire which were cancelled.
func (d *driver) planStale(r *engine.Round) {
	stale := func(timer uint64, in time.Duration) {
		t, known := d.set[timer]
		delete(d.set, timer)
		if known && d.e.strikes(d.e.opts.Faults.Twice, &d.e.struck.Stale) {
			d.plan(coming{at: d.e.now.Add(max(in, t.Due.Sub(d.now()))), timer: t})
		}
	}
	for _, ev := range r.Events {
		if ev.TimerFired != nil {
			stale(ev.TimerFired.Timer, time.Second)
		}
	}
	for _, c := range r.Out.Commands {
		switch {
		case c.SetTimer != nil:
			d.noteTimers(*c.SetTimer)
		case c.CancelTimer != nil:
			stale(c.CancelTimer.Timer, 0)
		}
	}
}

// startSuccessor lets the next run of a loop begin, and be driven, when a run that goes on has ended.
func (d *driver) startSuccessor(ctx context.Context) error {
	end := d.end()
	if end == nil || d.s.ended {
		return nil
	}
	next, ok := engine.Successor(d.s.Start, end)
	if !ok {
		return nil
	}
	run, err := d.e.Start(ctx, next)
	if err == nil {
		d.e.Add(run)
	}
	return err
}

func (e *Engine) dies(p float64) bool {
	e.moments++
	if e.moments == e.opts.Faults.CrashAt {
		e.struck.Crashes++
		return true
	}
	return e.struck.Crashes < e.opts.Faults.MaxCrashes && e.strikes(p, &e.struck.Crashes)
}

// lookAround takes what has come into the inbox.
func (d *driver) lookAround() {
	for _, x := range d.s.Inbox.Waiting {
		_ = event.Shorten(&x, d.e.put) // if it fails, the message is whole
		d.session.Message(x)
	}
}

// gather moves the clock to the next thing that happens and takes all that has happened by then, in order. Where all of it had been taken
// back, it takes nothing: a moment, or another run, may come before the next thing of this run.
func (d *driver) gather() {
	d.lookAround()
	if len(d.session.Queued()) == 0 {
		if at, ok := d.timer(); ok && (len(d.queue) == 0 || at < d.queue[0].at) {
			d.takeBy(at)
		} else if len(d.queue) > 0 {
			d.takeBy(d.queue[0].at)
		}
	}
	// What comes at the same moment, or while the commit was under way, shares the batch.
	came := len(d.session.Queued())
	for d.takeBy(d.e.now) {
	}
	if d.e.opts.Faults.Slow > 0 {
		late := d.session.Queued()[came:]
		d.e.rng.Shuffle(len(late), func(i, j int) { late[i], late[j] = late[j], late[i] })
	}
}

// takeBy takes the next thing that happens by a moment, and moves the clock there. It reports whether there was one.
func (d *driver) takeBy(moment event.Time) bool {
	at, set := d.timer()
	switch {
	case len(d.queue) > 0 && d.queue[0].at <= moment && (!set || d.queue[0].at <= at):
		c := d.queue.Pop()
		d.e.now = max(d.e.now, c.at)
		d.take(c)
	case set && at <= moment:
		d.e.now = max(d.e.now, at)
		d.session.Fire(d.now(), 1)
	default:
		return false
	}
	return true
}

func (d *driver) take(c coming) {
	switch {
	case c.refuse != 0:
		d.refuse(c.refuse)
	case c.look != nil:
		d.lookAgain(c.look)
	case c.back != nil:
		delete(d.live, c.back.Ticket)
		d.session.GiveBack(*c.back)
	case c.answer != nil:
		d.session.Answer(c.answer)
		if _, live := d.live[c.answer.Ticket]; live && d.e.strikes(d.e.opts.Faults.Twice, &d.e.struck.Twice) {
			again := *c.answer
			d.plan(coming{at: d.e.now.Add(time.Duration(d.e.rng.Int64N(int64(time.Minute)))), answer: &again})
		}
		delete(d.live, c.answer.Ticket)
	default:
		d.session.Queue(event.Event{TimerFired: &event.TimerFired{Timer: c.timer.Timer, Node: c.timer.Node}})
	}
}

// carryOut carries out the first effects of a round, which may be nil.
func (d *driver) carryOut(r *engine.Round, first int) error {
	for x := range d.session.Effects(r) {
		if first--; first < 0 {
			break
		}
		if err := d.do(x); err != nil {
			return err
		}
	}
	return nil
}

// do carries out one effect.
func (d *driver) do(x engine.Effect) error {
	e := d.e
	switch a := x.Start; {
	case x.Never != nil:
		d.withdrawUnstarted(*x.Never)
	case a != nil:
		d.live[a.Ticket] = *a
		switch {
		case a.Kind == event.StoreAttempt:
			return d.answer(a)
		case a.Admission != nil || d.mustAsk(a):
			d.askAdmission(*a)
		default:
			d.execute(*a)
		}
	case x.Cancel != nil:
		waited := d.withdraw(x.Cancel.Ticket)
		if a, live := d.live[x.Cancel.Ticket]; live {
			delete(d.live, a.Ticket)
			answer := failure(a, event.Transient, event.ReasonCancelled, "cancelled")
			d.plan(coming{at: e.now.Add(e.stopping(a)), answer: &answer})
			if e.opts.Faults.Twice == 0 && !waited {
				d.answerOnce(a.Ticket)
			} // else the answer that was planned comes too, and one of the two changes nothing
		}
	case x.Child != nil:
		return d.startChild(*x.Child, x.Wish)
	case x.CancelChild != "" && e.runs[x.CancelChild] != nil:
		return e.wish(x.CancelChild, x.Wish)
	}
	return nil
}

// stopping is how long an attempt takes to end that was cancelled.
func (e *Engine) stopping(a event.Attempt) time.Duration {
	if w, is := e.opts.World.(Stopper); is {
		return w.Stopped(a)
	}
	return time.Duration(e.rng.Int64N(int64(5 * time.Second)))
}

// answer answers an attempt from what runs share. The effect is durable at once, and the answer is not: a driver that dies in between
// makes the next one ask again. Where nothing goes wrong it takes no time.
func (d *driver) answer(a *event.Attempt) error {
	var answer event.AttemptFinished
	var err error
	ask := func() (err error) {
		var posts []shared.Post
		answer, posts, err = shared.AnswerAttempt(&d.e.shared, a, d.e.wall())
		d.e.postAll(posts)
		return err
	}
	dead := d.e.commit(func() { err = shared.Uncrowd(ask, d.e.sweepShared) })
	if dead != nil || err != nil {
		return errors.Join(dead, err)
	}
	late, faults := time.Duration(0), d.e.opts.Faults
	if faults.MaxCrashes, faults.CrashAt = 0, 0; faults != (Faults{}) { // a crash at one point leaves all others in their time
		late = time.Duration(d.e.rng.Int64N(int64(time.Second)))
	}
	d.plan(coming{at: d.e.now.Add(late), answer: &answer})
	return nil
}

// execute lets the world carry an attempt out.
func (d *driver) execute(a event.Attempt) {
	if a.IsWatch() {
		d.planLook(&look{Attempt: a})
		return
	}
	if a.Admission == nil && d.e.strikes(d.e.opts.Faults.Back, &d.e.struck.Back) { // before the worker has begun
		d.plan(coming{at: d.e.now.Add(time.Duration(d.e.rng.Int64N(int64(time.Minute)))), back: &a})
		return
	}
	answer, took := d.e.opts.World.Attempt(a, d.e.rng)
	d.planAnswer(a, answer, took)
}

// planLook plans the next look of an attempt that watches a source, or its end.
func (d *driver) planLook(l *look) {
	pause := l.Source.Watch.Pause(l.looks, l.waited)
	if pause > 0 {
		if l.last.Error != nil { // the source refuses to answer before
			pause = max(pause, time.Duration(l.last.Error.RetryAfter*float64(time.Second)))
		}
		l.looks, l.waited = l.looks+1, l.waited+pause
		d.plan(coming{at: d.e.now.Add(pause), look: l})
		return
	}
	if l.last.Outcome != event.Failed {
		l.last = event.AttemptFinished{Ticket: l.Ticket, Node: l.Node, Attempt: l.Attempt.Attempt, Outcome: event.OK, Output: event.Unchanged()}
	}
	d.planAnswer(l.Attempt, l.last, 0)
}

// lookAgain lets the world answer a look, unless nobody waits for the attempt any more. The world is asked as for a list of its own.
func (d *driver) lookAgain(l *look) {
	if _, live := d.live[l.Ticket]; !live {
		return
	}
	a, q := l.Attempt, *l.Source
	q.Watch, a.Source = nil, &q
	a.Key = fmt.Sprintf("%s-%d", a.Key, d.e.now)
	answer, took := d.e.opts.World.Attempt(a, d.e.rng)
	if l.Source.Watch.Changed(&answer) {
		d.planAnswer(l.Attempt, answer, took)
		return
	}
	l.last = answer
	d.planLook(l)
}

// planAnswer plans the answer to an attempt after the time that it takes.
func (d *driver) planAnswer(a event.Attempt, answer event.AttemptFinished, took time.Duration) {
	e := d.e
	if a.Timeout > 0 && took > a.Timeout {
		took = a.Timeout
		partial := answer.Partial
		answer = failure(a, event.Transient, event.ReasonTimeout, "it exceeded its timeout of "+a.Timeout.String())
		answer.Partial = partial
	}
	if e.silent[a.Key] < MaxSilent && e.strikes(e.opts.Faults.Silent, &e.struck.Silent) {
		e.silent[a.Key]++
		answer = failure(a, event.Transient, event.ReasonLost, "lost contact with it")
		answer.Outcome = event.Lost
	}
	if answer.StartedAt == 0 {
		answer.StartedAt = e.wall()
	}
	if a.Admission == nil && admission.NamesMoment(&a, &answer) {
		d.asks.granted[a.Ticket] = grant{a, e.now}
	}
	_ = event.Shorten(&answer, e.put) // if it fails, the answer is whole
	d.plan(coming{at: e.now.Add(took), answer: &answer})
}

// startChild makes a child, unless it is there, and drives it from now on.
func (d *driver) startChild(ask event.StartChild, wish engine.Wish) error {
	answer := func(f event.ChildFinished) error {
		d.session.ChildEnded(f)
		return nil
	}
	if d.e.runs[ask.Run] == nil {
		if wish.Cancels > 0 {
			return answer(engine.Unmade(ask))
		}
		_, err := d.e.Start(context.Background(), engine.Child(d.s.Start, ask))
		if no := (*engine.Deadlock)(nil); errors.As(err, &no) {
			return answer(no.AnswerCaller(ask))
		}
		if err != nil {
			return err
		}
	}
	if d.e.dies(d.e.opts.Faults.CrashMidway) {
		return ErrCrashed
	}
	if err := d.e.wish(ask.Run, wish); err != nil {
		return err
	}
	return d.life.takeChild(&call{d, ask})
}

// takeChild drives a called run from now on, or lets it wait for its turn.
func (p *life) takeChild(k *call) error {
	in, err := p.e.joinLine(k.ask.Run)
	if err != nil {
		return err
	}
	if !in {
		p.waiting = append(p.waiting, k)
		return nil
	}
	d, err := p.take(k.ask.Run, nil)
	if err == nil {
		d.parent, d.ask = k.parent, k.ask
	}
	return err
}

// letIn drives the called runs whose turns have come.
func (p *life) letIn() error {
	waiting := p.waiting
	p.waiting = nil
	for i, k := range waiting {
		if err := p.takeChild(k); err != nil {
			p.waiting = append(p.waiting, waiting[i+1:]...)
			return err
		}
	}
	return nil
}

func failure(a event.Attempt, kind event.ErrorKind, reason event.Reason, message string) event.AttemptFinished {
	return event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Gate: a.Gate, Compensate: a.Compensate,
		Outcome: event.Failed, Error: &event.Error{Kind: kind, Reason: reason, Message: message, ExitCode: -1}}
}

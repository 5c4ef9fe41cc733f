package local

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/flowrun/flowrun/runner/durations"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/shared"
)

// drive is one run in the hands of this process. One goroutine, that of Drive, touches it; others call poke and stop.
type drive struct {
	engine *Engine
	run    *claimed
	fresh  bool // this process has just made it
	parks  bool // it ends when the run can be parked
	fold   *engine.Fold
	watch  engine.Watcher
	out    event.Reaction
	aside  aside
	mark   *mark
	live   *attempts
	admit  *admitting
	store  storing
	// start is how the run began: its children begin alike. Its definition is nil until a child is made, where the run was replayed: drives of
	// runs that call none need it no more.
	start    engine.Start
	children children
	timers   timers
	pace     pace
	tally    durations.Tally
	usage    shared.UsageTally
	queue    []event.Event // they wait for their batch
	poked    chan struct{}
	stop     context.CancelCauseFunc
}

// Drive takes a run over and drives it to its end, or until ctx is done. w may be nil; the slices and the reaction that it
// gets are valid during the call. Errors: ctx's cause; those of package engine; journal.ErrBroken; the store's first I/O
// error. In all cases the attempts that were live have been ended.
func (e *Engine) Drive(ctx context.Context, run string, w engine.Watcher) (event.End, error) {
	return e.driveRun(ctx, run, w, false)
}

func (e *Engine) driveRun(ctx context.Context, run string, w engine.Watcher, parks bool) (_ event.End, err error) {
	defer func() { err = e.explainError(err) }()
	if e.commits == nil {
		return event.End{}, engine.ErrReadOnly
	}
	if w == nil {
		w = func([]event.Event, *event.Reaction, bool) {}
	}
	if err := e.enterRun(run); err != nil {
		return event.End{}, err
	}
	defer e.leaveRun(run)
	defer func() {
		if parks && gaveUp(err) {
			err = errors.Join(err, e.giveUpRuns(run))
		}
	}()
	if err := e.checkSpace(); err != nil {
		return event.End{}, err
	}
	leave, err := e.awaitTurn(ctx, run, parks)
	if err != nil {
		return event.End{}, causeOf(ctx, err)
	}
	defer func() {
		if !errors.Is(err, engine.ErrParked) { // a parked run keeps its turn
			leave()
		}
	}()
	c, err := e.claimRun(run)
	if err != nil {
		return event.End{}, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	d := &drive{engine: e, run: &c, watch: w, parks: parks, poked: make(chan struct{}, 1), stop: stop}
	if err := d.replayJournal(ctx); err != nil {
		if c.epoch != 0 {
			d.giveBackUntouched()
		}
		return event.End{}, causeOf(ctx, e.explainError(err))
	}
	if end := d.fold.End(); end != nil {
		return *end, d.engine.recordEnd(&c, &d.start.First, end, d.fold.Last())
	}
	return d.toEnd(ctx)
}

// causeOf returns the cause of ctx if ctx is done, and else the error of the query.
func causeOf(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return context.Cause(ctx)
	}
	return err
}

// replayJournal replays the journal. On the first drive of a run its past is news, and its commands have not been carried out.
func (d *drive) replayJournal(ctx context.Context) error {
	if f := d.engine.takeFresh(d.run); f != nil {
		d.start, d.fold, d.out, d.fresh = f.start, f.fold, f.out, true
		d.takePast(f.events)
		return nil
	}
	h := d.run.header
	definition, err := d.engine.definition(ctx, h)
	if err != nil {
		return err
	}
	m, err := d.engine.options.Factory(h, definition)
	if err != nil {
		return fmt.Errorf("run %s: %w", h.Run, err)
	}
	d.start = engine.Start{Header: h}
	d.fold = engine.NewFold(h, m)
	err = d.engine.eachBatch(ctx, d.run, 0, func(b journal.Batch) error {
		events, err := d.replayBatch(b)
		if err == nil {
			if first := events[0].RunStarted; first != nil {
				d.start.First = *first
			}
			d.takePast(events)
		}
		return err
	})
	if err == nil && d.run.pending {
		err = d.takeStart(ctx)
	}
	if err == nil && d.run.ended && d.fold.End() == nil {
		err = fmt.Errorf("%w: run %s: its row says that it has ended, its journal does not", journal.ErrBroken, h.Run)
	}
	return err
}

// takeStart reads the first event of a run that has not begun. queueBeginning feeds it.
func (d *drive) takeStart(ctx context.Context) error {
	first, err := d.engine.pendingStart(ctx, d.run)
	if err == nil {
		err = d.engine.expectDurations(ctx, &first, d.run.header.Workflow)
	}
	d.start.First = first
	return err
}

// takePast tallies and shows events that are already durable.
func (d *drive) takePast(events []event.Event) {
	d.run.status = engine.StatusAfter(d.run.status, &d.out, d.fold)
	d.tally.Add(events, &d.out)
	d.usage.Add(events, &d.out)
	d.announceBatch(events, d.run.driven)
	d.watch(events, &d.out, d.run.driven)
}

// announceBatch shows durable events to the observer of all runs, before their consequences are
// carried out.
func (d *drive) announceBatch(events []event.Event, replayed bool) {
	if all := d.engine.options.Watch; all != nil {
		all(d.run.id, events, &d.out, replayed)
	}
}

// replayBatch turns a panic of the machine over a record into the end of this drive, as feedQueue does.
func (d *drive) replayBatch(b journal.Batch) (events []event.Event, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("run %s: the machine failed over an event of %d to %d of the journal, which is as it was: %v", d.run.id, b.First, b.Last(), p)
		}
	}()
	return d.fold.Replay(b, &d.out)
}

// giveBackUntouched gives a run back as it was found: nothing was carried out. Only its requests, which it had while it was
// parked, leave the line.
func (d *drive) giveBackUntouched() {
	if d.run.parked != 0 {
		_ = d.engine.leaveLine(d.run, false) // an error is the store's: the next driver does this
	}
	d.engine.releaseRun(d.run, d.run.clean, d.run.driven)
}

// toEnd drives a run that is ours and rebuilt, and gives it back.
func (d *drive) toEnd(ctx context.Context) (event.End, error) {
	var err error
	if d.mark, err = d.engine.options.disk.openMark(d.engine.markPath(d.run.id), d.run.id); err != nil {
		if !isFull(err) {
			d.engine.commits.failStore(err)
		}
		d.giveBackUntouched()
		return event.End{}, err
	}
	d.admit = &admitting{engine: d.engine, run: d.run, next: d.engine.options.Executor, refused: map[uint64]string{}, asked: d.run.parked != 0}
	d.live = newAttempts(d.admit, d.engine.now)
	d.store = storing{engine: d.engine, run: d.run, live: d.live, fail: d.stop}
	d.children = newChildren()
	d.pace = newPace(d.engine.options.Clock, d.fold.Last())
	d.engine.enlistDrive(d)
	defer d.startFigures(ctx)()
	if err = d.queueBeginning(); err == nil {
		err = d.driveToEnd(ctx)
	}
	if err == nil {
		err = d.leaveChildren()
	}
	d.aside.waitForShown()
	gone := d.live.stopAndWait(d.engine.options.StopGrace)
	switch {
	case !gone:
		d.engine.recordLeftovers()
	case !errors.Is(err, engine.ErrParked): // a parked run stays in the line
		d.admit.leaveLine()
	}
	if closing := d.mark.close(); closing != nil {
		err = errors.Join(err, d.engine.commits.failStore(closing))
	}
	if errors.Is(err, engine.ErrParked) {
		return event.End{}, err // parkRun has given it back
	}
	if err != nil {
		// A fenced run is another's by now and a failed store takes nothing: then this says so, to no effect.
		d.engine.releaseRun(d.run, gone, true)
		return event.End{}, err
	}
	return *d.fold.End(), nil
}

// restUntilEvent is waitForEvent. A drive that parks its runs, and of which nothing but watches of sources is in flight, is counted meanwhile.
func (d *drive) restUntilEvent(ctx context.Context) error {
	if d.parks && d.live.onlyWatch() && len(d.children.byRun) == 0 {
		d.engine.watching.Add(1)
		defer d.engine.watching.Add(-1)
	}
	return d.waitForEvent(ctx)
}

// queueBeginning does the work between the replay and the first new event. It feeds the events that
// came while no process drove the run first, so that it does not request an unwanted attempt again.
func (d *drive) queueBeginning() error {
	if d.run.pending { // nothing has been asked for yet
		d.queue = append(d.queue, event.Event{RunStarted: &d.start.First})
	}
	if err := d.engine.explainError(d.lookAround()); err != nil {
		return err
	}
	secrets := d.engine.takeRenewed(d.run.id)
	if d.run.pending && d.cancelStart() || d.run.pending && secrets == nil {
		return nil
	}
	adopted, since := d.engine.takeAdopted(d.run.id), d.fold.Last()
	if adopted != 0 && d.run.parked == d.run.epoch { // from then on somebody drove the run, though nobody in particular
		now := d.engine.now()
		since = min(since.Add(max(0, now.Sub(adopted))), now)
	} else if d.run.parked == d.run.epoch && secrets == nil { // the run was driven all the time, though by nobody in particular
		if err := d.admit.recallRequests(); err != nil {
			return d.engine.explainError(err)
		}
		for _, t := range d.fold.Timers() {
			d.timers.add(t)
		}
		if !d.parks { // nobody wakes the runs that it called
			d.startCalled()
		}
		return nil
	}
	if d.isNew() && secrets == nil {
		d.carryOut(d.out.Commands) // of the journal's only batch
		return nil
	}
	if d.run.driven && d.engine.options.Leftover != nil {
		d.engine.options.Leftover(d.run.id)
	}
	if err := d.engine.leaveLine(d.run, !d.run.clean && !d.run.alive); err != nil {
		return d.engine.explainError(err)
	}
	for _, t := range d.fold.Timers() {
		d.timers.add(t)
	}
	why := "resumed"
	switch {
	case !d.run.driven, d.run.pending:
		why = event.NobodyBefore
	case d.run.alive:
		why = fmt.Sprintf("taken over from process %d", d.run.pid)
	case !d.run.clean:
		why = "the driver died"
	}
	d.queue = append(d.queue, event.Event{DriverChanged: &event.DriverChanged{
		Lost: !d.run.clean && !d.run.alive && !d.run.pending, Driver: d.run.epoch, Why: why, Since: since,
		DeathLimit: d.engine.options.DeathLimit, Secrets: secrets,
	}})
	return nil
}

// cancelStart ends a run that was cancelled before it began, and reports whether it was.
func (d *drive) cancelStart() bool {
	for _, ev := range d.queue {
		if x := ev.External; x != nil && x.Kind == event.ExternalCancel {
			d.start.First.Cancelled = engine.CancelledEarly(x.Reason)
			d.queue = d.queue[:1]
			return true
		}
	}
	return false
}

// isNew reports whether a run is driven for the first time: by the process that has just made it,
// or before a clock of the run has started; and no event has come in before.
func (d *drive) isNew() bool {
	return !d.run.driven && len(d.queue) == 0 && (d.fresh || len(d.fold.Timers()) == 0)
}

// driveToEnd gathers, feeds, appends and acts until the run has ended. The events of queueBeginning go before any timer that is due: the
// clocks stood still while nobody drove, and only then is it known which are.
func (d *drive) driveToEnd(ctx context.Context) error {
	d.poke() // whatever came in while nobody drove
	for begun := false; d.fold.End() == nil; begun = true {
		if ctx.Err() != nil {
			return d.recordAnswers(context.Cause(ctx))
		}
		if d.engine.commits.isFull() {
			return d.recordAnswers(engine.ErrFull)
		}
		if begun || len(d.queue) == 0 {
			if err := d.collectEvents(); err != nil {
				return err
			}
		}
		if len(d.queue) == 0 {
			if err := d.parkRun(); err != nil {
				return err
			}
			if err := d.restUntilEvent(ctx); err != nil {
				return err
			}
			continue
		}
		if err := d.yieldToAttempts(); err != nil {
			return err
		}
		if err := d.commitBatch(true); err != nil {
			return err
		}
	}
	return nil
}

// yieldToAttempts lets other ready goroutines run first: attempts that have just started, and
// answers on their way. A commit blocks, and would keep the processor from them; with 8 processes
// at a time on 2 cores the yield raises the answers per commit from 1.9 to 4. It costs no delay if
// nothing else is ready. It is left out if no attempt is live, because the look costs 15 µs.
func (d *drive) yieldToAttempts() error {
	if len(d.live.cancel) == 0 && len(d.children.byRun) == 0 {
		return nil
	}
	runtime.Gosched()
	return d.takeAnswers()
}

// recordAnswers makes the answers durable that came before the stop. The next driver carries out the commands that follow.
func (d *drive) recordAnswers(cause error) error {
	if err := d.takeAnswers(); err != nil {
		return err
	}
	for len(d.queue) > 0 && d.fold.End() == nil {
		if err := d.commitBatch(false); err != nil {
			return err
		}
	}
	if d.fold.End() != nil {
		return nil
	}
	return cause
}

// commitBatch feeds the queued events, as many as a batch holds. After they are durable, it carries
// out and shows their consequences.
func (d *drive) commitBatch(act bool) error {
	b, err := d.feedQueue()
	if err != nil {
		return err
	}
	taken := d.queue[:b.Count]
	d.tally.Add(taken, &d.out)
	d.usage.Add(taken, &d.out)
	if err := d.engine.appendBatch(d.run, b, d.rowChange(taken)); err != nil {
		return err
	}
	if err := d.mark.writeMark(b.Last(), b.Link); err != nil && !isFull(err) { // a mark that lags is fine
		return d.engine.commits.failStore(fmt.Errorf("writing the mark of run %s: %w", d.run.id, err))
	}
	d.engine.options.reportPoint(engine.Marked)
	d.announceBatch(taken, false)
	if act {
		d.carryOut(d.out.Commands)
	}
	d.showBatch(b.Count)
	return nil
}

// aside is a batch that is being shown while the next one is made, with the memory of both taking turns.
type aside struct {
	queue []event.Event
	out   event.Reaction
	done  chan struct{} // closed once it was shown; nil without a batch
}

// waitForShown waits until nothing is being shown.
func (a *aside) waitForShown() {
	if a.done != nil {
		<-a.done
		a.done = nil
	}
}

// worthAside is the smallest batch, in events, that is shown in a goroutine of its own: showing a
// smaller batch costs less than the goroutine.
const worthAside = 64

// showBatch shows the batch that is done, the first n of the queue, and takes them off it. A large one that the next follows at once
// is shown beside that: of a wide fan-out, it is a sixth of the work.
func (d *drive) showBatch(n int) {
	d.aside.waitForShown()
	shown, out := d.queue[:n], &d.out
	d.queue, d.aside.queue = append(d.aside.queue[:0], d.queue[n:]...), d.queue
	if n < worthAside || len(d.queue) == 0 {
		d.showEvents(shown, out)
		return
	}
	d.out, d.aside.out = d.aside.out, d.out
	done := make(chan struct{})
	d.aside.done = done
	go func() {
		defer close(done)
		d.showEvents(shown, &d.aside.out)
	}()
}

// showEvents shows events and their consequences.
func (d *drive) showEvents(events []event.Event, out *event.Reaction) {
	d.engine.options.reportPoint(engine.Showing)
	d.watch(events, out, false)
	d.engine.options.reportPoint(engine.Shown)
}

// feedQueue turns a panic of the machine into the end of this drive: the journal is intact and other runs go on.
func (d *drive) feedQueue() (b journal.Batch, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("run %s: the machine failed after event %d: %v", d.run.id, d.run.seq, p)
		}
	}()
	return d.fold.Feed(d.pace.readClock(), d.queue, &d.out)
}

func (d *drive) rowChange(taken []event.Event) change {
	ch := change{status: engine.StatusAfter(d.run.status, &d.out, d.fold), ends: d.admit.takeEnds(taken)}
	for _, ev := range taken {
		if ev.External != nil {
			ch.taken = append(ch.taken, ev.External.Inbox)
		}
	}
	ch.leaves, ch.asks = engine.Leaves(d.out.Commands), engine.Asks(d.out.Commands)
	due, idle := d.fold.Due()
	ch.due, ch.rest = due, shared.RestOf(&d.start.First, due, idle)
	if end := d.fold.End(); end != nil {
		ch.status, ch.ended, ch.summary = end.Status, d.fold.Last(), engine.EncodeSummary(end)
		ch.used, ch.end = d.usage.Most(), shared.EndOf(&d.start.First, end)
		if end.Status == event.Succeeded {
			took := d.tally.Took()
			ch.took = &took
		}
	}
	return ch
}

// carryOut carries out the machine's commands. It answers null agents and unwanted attempts at
// once, for the next batch.
func (d *drive) carryOut(commands []event.Command) {
	commands = engine.Once(commands)
	unwanted, wishes := engine.Unwanted(commands), engine.Wishes(commands)
	d.noteWishes(wishes)
	for i := range commands {
		d.engine.options.reportPoint(engine.Acting)
		switch c := &commands[i]; {
		case c.Start != nil && unwanted[c.Start.Ticket]:
			d.admit.withdrawUnstarted(c.Start)
			f := engine.NeverStarted(*c.Start)
			d.queue = append(d.queue, event.Event{AttemptFinished: &f})
		case c.Start != nil && c.Start.Kind == event.StoreAttempt:
			d.store.answerAttempt(*c.Start)
		case c.Start != nil && answersAtOnce(c.Start) && !d.admit.mustAsk(c.Start):
			f := d.live.executeAttempt(d.live.ctx, *c.Start)
			d.queue = append(d.queue, event.Event{AttemptFinished: &f})
		case c.Start != nil:
			d.live.startAttempt(*c.Start)
		case c.Cancel != nil:
			d.live.endAttempt(c.Cancel.Ticket)
			d.admit.withdrawRequest(c.Cancel.Ticket)
		case c.SetTimer != nil:
			d.timers.add(*c.SetTimer)
		case c.CancelTimer != nil:
			d.timers.cancel(c.CancelTimer.Timer)
		case c.StartChild != nil:
			d.startChild(*c.StartChild, wishes[c.StartChild.Run])
		case c.CancelChild != nil:
			d.cancelChild(c.CancelChild.Run, wishes[c.CancelChild.Run])
		}
	}
}

// maxWait is how long a timer is slept for before the clock is asked again: sleeping does not notice that the clock was
// set, or that the computer was suspended.
const maxWait = time.Minute

// waitForEvent blocks until there may be something to collect.
func (d *drive) waitForEvent(ctx context.Context) error {
	var alarm <-chan time.Time
	if t, ok := d.timers.next(); ok {
		var giveUp func()
		alarm, giveUp = d.engine.options.Clock.After(min(max(t.Due.Sub(d.pace.readClock()), 0), maxWait))
		defer giveUp()
	}
	select {
	case f := <-d.live.answers:
		d.takeAnswer(f)
	case end := <-d.children.ends:
		return d.childEnded(end)
	case <-alarm:
	case <-d.poked:
		d.poke()
	case <-d.engine.commits.down:
		d.poke()
	case <-ctx.Done():
	}
	return nil
}

func (d *drive) poke() {
	select {
	case d.poked <- struct{}{}:
	default:
	}
}

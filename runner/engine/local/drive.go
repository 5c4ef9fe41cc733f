package local

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/flowrun/flowrun/memory/private/durable"
	"github.com/flowrun/flowrun/runner/durations"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/shared"
)

// drive is one run in the hands of this process: what a session needs of the outside. One goroutine, that of Drive, touches it; others call
// poke and stop.
type drive struct {
	engine   *Engine
	run      *claimed
	fresh    bool          // this process has just made it
	parks    bool          // it ends when the run can be parked
	began    time.Duration // by processTime
	kept     keeping       // the last snapshot
	session  *engine.Session
	past     *engine.Round     // the last batch of the journal
	first    *event.RunStarted // of a run whose journal is empty, else nil
	watch    engine.Watcher
	watched  bool // somebody watches this drive
	aside    []aside
	mark     *mark
	live     *attempts
	admit    *admitting
	store    storing
	joined   joined // of the batch that is committed now
	children children
	opened   time.Time // the stopwatch's beginning
	tally    durations.Tally
	usage    shared.UsageTally
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
	watched := w != nil
	if !watched {
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
	began := processTime()
	d := &drive{engine: e, run: &c, watch: w, watched: watched, parks: parks, began: began, kept: keeping{at: began}, opened: e.options.Clock.Now(), poked: make(chan struct{}, 1), stop: stop}
	if err := d.replayJournal(ctx); err != nil {
		if c.epoch != 0 {
			d.giveBackUntouched()
		}
		return event.End{}, causeOf(ctx, e.explainError(err))
	}
	if end := d.end(); end != nil {
		return *end, d.engine.recordEnd(&c, &d.session.Start().First, end, d.session.Fold().Last())
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

// end is the end of the run; nil while it has none.
func (d *drive) end() *event.End { return d.session.Fold().End() }

// now is the time of the run.
func (d *drive) now() event.Time {
	t := d.engine.options.Clock.Now()
	return d.session.Now(event.At(t), t.Sub(d.opened))
}

// replayJournal replays the journal. On the first drive of a run its past is news, and its commands have not been carried out.
func (d *drive) replayJournal(ctx context.Context) error {
	if f := d.engine.takeFresh(d.run); f != nil {
		d.setSession(ctx, f.session)
		d.fresh = true
		d.notePast(f.round)
		if d.end() != nil {
			d.showPast()
		}
		return nil
	}
	h := d.run.header
	definition, err := d.engine.definition(ctx, h)
	if err != nil {
		return err
	}
	if !d.recallState(ctx, definition) {
		m, err := d.engine.options.Factory(h, definition)
		if err != nil {
			return fmt.Errorf("run %s: %w", h.Run, err)
		}
		d.setSession(ctx, engine.NewSession(engine.Start{Header: h}, m))
		if err = d.rebuildFrom(ctx, 0); err != nil {
			return err
		}
	}
	if err == nil && d.run.pending {
		d.first, err = d.takeStart(ctx)
	}
	if err == nil && d.run.ended && d.end() == nil {
		err = fmt.Errorf("%w: run %s: its row says that it has ended, its journal does not", journal.ErrBroken, h.Run)
	}
	return err
}

// setSession gives the drive its session, which is left between two slices of its work if the drive is over: at once while the journal is
// replayed, and after a while when an event is fed, because what came with it would come again.
func (d *drive) setSession(ctx context.Context, s *engine.Session) {
	d.session = s
	var stopped time.Time
	s.Fold().SetPause(func() error {
		switch {
		case ctx.Err() == nil:
			return nil
		case d.mark != nil && stopped.IsZero():
			stopped = time.Now()
			return nil
		case d.mark != nil && time.Since(stopped) < d.engine.options.StopGrace:
			return nil
		}
		return context.Cause(ctx)
	})
}

// rebuildFrom replays the journal behind an event.
func (d *drive) rebuildFrom(ctx context.Context, seq uint64) error {
	return d.engine.eachBatch(ctx, d.run, seq, func(b journal.Batch) error {
		r, err := d.session.Rebuild(b)
		if err == nil {
			d.takePast(r)
		}
		return err
	})
}

// takeStart reads the first event of a run that has not begun.
func (d *drive) takeStart(ctx context.Context) (*event.RunStarted, error) {
	first, err := d.engine.pendingStart(ctx, d.run)
	if err == nil {
		err = d.engine.expectDurations(ctx, &first, d.run.header.Workflow)
	}
	return &first, err
}

// takePast notes and shows events that are already durable.
func (d *drive) takePast(r *engine.Round) {
	d.notePast(r)
	d.showPast()
}

func (d *drive) notePast(r *engine.Round) {
	d.past = r
	d.run.status = engine.StatusAfter(d.run.status, &r.Out, d.session.Fold())
	d.announceBatch(r, d.run.driven)
}

func (d *drive) showPast() {
	d.tallyRound(d.past)
	d.watch(d.past.Events, &d.past.Out, d.run.driven)
}

func (d *drive) tallyRound(r *engine.Round) {
	d.tally.Add(r.Events, &r.Out)
	d.usage.Add(r.Events, &r.Out)
}

// announceBatch shows durable events to the observer of all runs, before their consequences are
// carried out.
func (d *drive) announceBatch(r *engine.Round, replayed bool) {
	if all := d.engine.options.Watch; all != nil {
		all(d.run.id, r.Events, &r.Out, replayed)
	}
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
		if !durable.IsFull(err) {
			d.engine.commits.failStore(err)
		}
		d.giveBackUntouched()
		return event.End{}, err
	}
	d.admit = &admitting{engine: d.engine, run: d.run, next: d.engine.options.Executor, refused: map[uint64]string{}, asked: d.run.parked != 0}
	d.live = newAttempts(d.admit, d.engine.now, d.engine.artifacts.Run(d.run.id))
	d.store = storing{engine: d.engine, run: d.run, live: d.live, fail: d.stop}
	d.live.endStored = d.store.cancelQueued
	d.children = newChildren()
	d.session.SetWindow(engine.Window{Children: MaxChildren})
	d.engine.enlistDrive(d)
	defer d.startFigures(ctx)()
	err = d.queueBeginning()
	if d.fresh {
		d.showAside(d.past, len(d.past.Out.Transitions), d.showPast)
	}
	if err == nil {
		err = d.driveToEnd(ctx)
	}
	if err == nil {
		err = d.leaveChildren()
	}
	d.kept.wait()
	if d.end() != nil && d.run.seq >= d.engine.keepEvery() {
		_ = d.engine.removeSnapshot(d.run.id) // one that stays is passed over, and removed with the run
	}
	d.waitForShown(0)
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
	return *d.end(), nil
}

// restUntilEvent is waitForEvent. A drive that parks its runs, and of which nothing but watches of sources is in flight, is counted meanwhile.
func (d *drive) restUntilEvent(ctx context.Context) error {
	if d.parks && d.session.OnlyWatches() {
		d.engine.watching.Add(1)
		defer d.engine.watching.Add(-1)
	}
	return d.waitForEvent(ctx)
}

// queueBeginning does the work between the replay and the first new event.
func (d *drive) queueBeginning() error {
	t := engine.Takeover{First: d.first, Driven: d.run.driven, Fresh: d.fresh, Parked: d.run.parked == d.run.epoch, Calls: !d.parks, Stopwatch: d.engine.options.Clock.Now().Sub(d.opened)}
	if err := d.engine.explainError(d.lookAround()); err != nil {
		return err
	}
	t.Changed = event.DriverChanged{Lost: !d.run.clean && !d.run.alive, Driver: d.run.epoch, Why: "resumed", DeathLimit: d.engine.options.DeathLimit,
		Secrets: d.engine.takeRenewed(d.run.id)}
	switch {
	case !d.run.driven, d.run.pending:
		t.Changed.Why = event.NobodyBefore
	case d.run.alive:
		t.Changed.Why = fmt.Sprintf("taken over from process %d", d.run.pid)
	case !d.run.clean:
		t.Changed.Why = "the driver died"
	}
	if adopted := d.engine.takeAdopted(d.run.id); adopted != 0 && t.Parked { // from then on somebody drove the run, though nobody in particular
		now := d.engine.now()
		t.Parked, t.Changed.Since = false, min(d.session.Fold().Last().Add(max(0, now.Sub(adopted))), now)
	}
	switch d.session.Begin(t) {
	case engine.Acts:
		d.carryOut(d.past)
	case engine.Continues:
		return d.engine.explainError(d.admit.recallRequests())
	case engine.Changes:
		if d.run.driven && d.engine.options.Leftover != nil {
			d.engine.options.Leftover(d.run.id)
		}
		return d.engine.explainError(d.engine.leaveLine(d.run, t.Changed.Lost))
	}
	return nil
}

// driveToEnd gathers, feeds, appends and acts until the run has ended. The events of queueBeginning go before any timer that is due: the
// clocks stood still while nobody drove, and only then is it known which are.
func (d *drive) driveToEnd(ctx context.Context) error {
	d.poke() // whatever came in while nobody drove
	for begun := false; d.end() == nil; begun = true {
		if ctx.Err() != nil {
			return d.recordAnswers(context.Cause(ctx))
		}
		if d.engine.commits.isFull() {
			return d.recordAnswers(engine.ErrFull)
		}
		if begun || len(d.session.Queued()) == 0 {
			if err := d.collectEvents(); err != nil {
				return err
			}
			d.carryOut(nil)
		}
		if len(d.session.Queued()) == 0 {
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
		d.keepState()
	}
	return nil
}

// yieldToAttempts lets other ready goroutines run first: attempts that have just started, and
// answers on their way. A commit blocks, and would keep the processor from them; with 8 processes
// at a time on 2 cores the yield raises the answers per commit from 1.9 to 4. It costs no delay if
// nothing else is ready. It is left out if no attempt is live, because the look costs 15 µs, and if the batch is large already.
func (d *drive) yieldToAttempts() error {
	if len(d.live.cancel) == 0 && d.session.Children() == 0 || len(d.session.Queued()) >= worthAside {
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
	for len(d.session.Queued()) > 0 && d.end() == nil {
		if err := d.commitBatch(false); err != nil {
			return err
		}
	}
	if d.end() != nil {
		return nil
	}
	return cause
}

// commitBatch feeds the queued events, as many as a batch holds. After they are durable, it carries
// out and shows their consequences. A few operations on what runs share are made durable with them.
func (d *drive) commitBatch(act bool) error {
	r, err := d.session.Feed(d.now())
	if err != nil {
		return err
	}
	if d.end() != nil { // the row takes what was tallied
		d.waitForShown(0)
		d.tallyRound(r)
	}
	ch := d.rowChange(r)
	if d.joined = (joined{}); act {
		d.joined = d.store.joinBatch(r.Out.Commands)
	}
	ch.joined = &d.joined
	err = d.engine.appendBatch(d.run, r.Batch, ch)
	if err != nil && len(d.joined.attempts) > 0 && isOwnError(err) { // the batch is durable also where what it starts fails
		d.joined = joined{}
		err = d.engine.appendBatch(d.run, r.Batch, ch)
	}
	if err != nil {
		return err
	}
	if err := d.mark.writeMark(r.Batch.Last(), r.Batch.Link); err != nil && !durable.IsFull(err) { // a mark that lags is fine
		return d.engine.commits.failStore(fmt.Errorf("writing the mark of run %s: %w", d.run.id, err))
	}
	d.engine.options.reportPoint(engine.Marked)
	d.announceBatch(r, false)
	d.engine.pokeAll(d.joined.posts)
	if act {
		d.carryOut(r)
	}
	d.joined = joined{}
	d.showBatch(r)
	return nil
}

// aside is a batch that is being shown while the next ones are made.
type aside struct {
	round *engine.Round
	done  chan struct{} // closed once it was shown
}

// worthAside is the smallest batch, in events or in transitions of nodes, that is shown in a goroutine of its own: showing a
// smaller batch costs less than the goroutine.
const worthAside = 64

// maxAside is the number of batches that may be shown, one after the other, while the next is made. With 1 the drive would wait whenever the
// garbage collector uses the other processor.
const maxAside = 4

// waitForShown waits until at most that many batches are being shown.
func (d *drive) waitForShown(most int) {
	for ; len(d.aside) > 0; d.aside = d.aside[1:] {
		select {
		case <-d.aside[0].done:
		default:
			if len(d.aside) <= most {
				return
			}
			<-d.aside[0].done
		}
		d.session.Reuse(d.aside[0].round)
	}
}

// showBatch shows the batch that is done. A large one is shown beside the next: of a wide fan-out, it is a sixth of the work.
func (d *drive) showBatch(r *engine.Round) {
	tallied := d.end() != nil
	d.showAside(r, len(r.Events), func() { d.showRound(r, tallied) })
}

// showAside calls show, which shows a round: at once if the round is small.
func (d *drive) showAside(r *engine.Round, size int, show func()) {
	if size < worthAside {
		d.waitForShown(0)
		show()
		d.session.Reuse(r)
		return
	}
	d.waitForShown(maxAside - 1)
	before := make(chan struct{})
	if n := len(d.aside); n > 0 {
		before = d.aside[n-1].done
	} else {
		close(before)
	}
	done := make(chan struct{})
	d.aside = append(d.aside, aside{r, done})
	go func() {
		defer close(done)
		<-before
		show()
	}()
}

// showRound shows events and their consequences, and tallies them unless that is done.
func (d *drive) showRound(r *engine.Round, tallied bool) {
	if !tallied {
		d.tallyRound(r)
	}
	d.engine.options.reportPoint(engine.Showing)
	d.watch(r.Events, &r.Out, false)
	d.engine.options.reportPoint(engine.Shown)
}

func (d *drive) rowChange(r *engine.Round) change {
	fold, first := d.session.Fold(), &d.session.Start().First
	ch := change{status: engine.StatusAfter(d.run.status, &r.Out, fold), ends: d.admit.takeEnds(r.Events)}
	for _, ev := range r.Events {
		if ev.External != nil {
			ch.taken = append(ch.taken, ev.External.Inbox)
		}
	}
	ch.leaves, ch.asks = engine.Leaves(r.Out.Commands), engine.Asks(r.Out.Commands)
	due, idle := fold.Due()
	ch.due, ch.rest = due, shared.RestOf(first, due, idle)
	if end := fold.End(); end != nil {
		ch.status, ch.ended, ch.summary = end.Status, fold.Last(), engine.EncodeSummary(end)
		ch.used, ch.end = d.usage.Most(), shared.EndOf(first, end)
		if end.Status == event.Succeeded {
			took := d.tally.Took()
			ch.took = &took
		}
	}
	return ch
}

// carryOut does what the session says after a batch, or without one. It answers null agents at once, for the next batch.
func (d *drive) carryOut(r *engine.Round) {
	for x := range d.session.Effects(r) {
		d.engine.options.reportPoint(engine.Acting)
		switch {
		case x.Never != nil:
			d.admit.withdrawUnstarted(x.Never)
		case x.Start != nil && x.Start.Kind == event.StoreAttempt:
			if f := d.joined.take(x.Start); f != nil {
				_ = event.Shorten(f, d.live.files.Put) // if it fails, the answer is whole, and the commit meets the same disk
				d.session.Answer(f)
			} else {
				d.store.answerAttempt(x.Start)
			}
		case x.Start != nil:
			d.startAttempt(x.Start)
		case x.Cancel != nil:
			d.live.endAttempt(x.Cancel.Ticket)
			d.admit.withdrawRequest(x.Cancel.Ticket)
		case x.Child != nil:
			d.startChild(*x.Child, x.Wish)
		case x.CancelChild != "":
			d.cancelChild(x.CancelChild, x.Wish)
		}
	}
}

// startAttempt starts an attempt, or answers it where its answer waits for nothing. A long answer waits for its artifact. The executor is asked for such an answer only where it
// may mask it: to ask it takes more than a tenth of the time of a step of a null agent (flowbench -rows null).
func (d *drive) startAttempt(a *event.Attempt) {
	f, ok := engine.AnswerNull(a, d.engine.now())
	switch {
	case !ok || d.admit.mustAsk(a) || f.IsLong():
		d.live.startAttempt(*a)
		return
	case !d.admit.passesOn(a):
		f = d.live.executeAttempt(d.live.ctx, *a)
	}
	d.session.Answer(&f)
}

// maxWait is how long a timer is slept for before the clock is asked again: sleeping does not notice that the clock was
// set, or that the computer was suspended.
const maxWait = time.Minute

// waitForEvent blocks until there may be something to collect.
func (d *drive) waitForEvent(ctx context.Context) error {
	var alarm <-chan time.Time
	if due, ok := d.session.NextTimer(); ok {
		var giveUp func()
		alarm, giveUp = d.engine.options.Clock.After(min(max(due.Sub(d.now()), 0), maxWait))
		defer giveUp()
	}
	select {
	case f := <-d.live.answers:
		d.takeAnswer(f)
	case list := <-d.live.together:
		d.takeTogether(list)
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

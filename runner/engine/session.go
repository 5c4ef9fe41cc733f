package engine

import (
	"fmt"
	"iter"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// Session is one run in the hands of one driver. It has the duties of a host that need no clock, no disk and no goroutine: the host says
// what happened and when, makes batches durable, and does what [Session.Effects] says. So all hosts drive runs by the same rules. It is not
// safe for concurrent use.
//
// A host rebuilds the run (Rebuild for each batch of the journal, Message for each row of the inbox, and Begin), and then, in turns, queues
// what has happened (Answer, ChildEnded, Message, Fire), makes a round of it (Feed), makes the round's batch durable, and does the
// round's effects.
type Session struct {
	start  Start
	fold   *Fold
	pace   pace
	timers timers
	queue  []event.Event // they wait for their batch
	past   Round         // the last batch that was replayed
	spare  []*Round
	taken  map[int64]bool // the messages that are queued, or in a batch that is not durable

	window   Window
	live     map[uint64]handed // the attempts that were handed out and have not answered, by ticket
	places   int               // of the window that these take
	ready    []event.Attempt   // they were given back, or wait for a place
	children map[string]*child
	driven   int      // children that were handed out
	waiting  []*child // with a window: they wait for the end of another child. Those that were cancelled meanwhile are in here, too
}

// Window bounds what a session hands out at once. 0 means no bound. What comes later waits in order. A machine has bounds of its own, which
// count what waits here, too.
type Window struct {
	Attempts int // watches of sources take no place: they may last for days
	Children int // a child that is cancelled is handed out beyond it, because its end is near
}

// handed is an attempt that was handed out.
type handed struct {
	since     event.Time // not earlier than this
	watches   bool
	cancelled bool
}

// child is a called run that has been asked for and has not ended.
type child struct {
	ask   event.StartChild
	wish  Wish
	waits bool // it is not handed out
}

// Round is a batch of events and the machine's reaction to it. The host gives it back with [Session.Reuse] once nobody reads it.
type Round struct {
	Batch  journal.Batch
	Events []event.Event
	Out    event.Reaction
}

// Effect is something that a host has to do. Start, Never, Cancel, Child or CancelChild is set; what they point to is valid until the round is
// given back, and for as long as the effect is done.
type Effect struct {
	// Start is an attempt that an executor carries out. The host gives the executor's answer to [Session.Answer].
	Start *event.Attempt
	// Never is an attempt that was cancelled before it started, or with which the run ended. The session has answered it; the host gives back what it
	// was granted.
	Never *event.Attempt
	// Cancel ends an attempt. If the host holds or asks for something on behalf of the attempt, it gives that back. The attempt
	// may have answered already.
	Cancel *event.CancelAttempt
	// Child is a run that the host makes, unless it is there, cancels as often as Wish says, and drives. The host calls [Session.ChildEnded]
	// or [Session.ChildLeft] for it. A cancelled child that is not there is not made: its end is [Unmade].
	Child *event.StartChild
	// CancelChild is a called run that the host cancels, in its inbox, until it was cancelled as often as Wish says.
	CancelChild string
	Wish        Wish
}

// NewSession joins the start of a run and a fresh machine. The first event of the start may be empty if the journal has one.
func NewSession(s Start, m Machine) *Session {
	return &Session{start: s, fold: NewFold(s.Header, m), taken: map[int64]bool{}, live: map[uint64]handed{}, children: map[string]*child{}}
}

// RestoreSession is NewSession for a run of which the state of [Session.Fold] was kept: see [RestoreFold]. The batches that came after it are
// rebuilt, if there are any, and the session begins. The first event of the start must be that of the run. Only a run whose effects are all
// done can begin so: it has been driven.
func RestoreSession(s Start, state []byte, machine func(state []byte) (Machine, error)) (*Session, error) {
	f, err := RestoreFold(s.Header, state, machine)
	if err != nil {
		return nil, err
	}
	x := NewSession(s, nil)
	x.fold = f
	return x, nil
}

// SetWindow bounds what is handed out at once, from now on.
func (s *Session) SetWindow(w Window) { s.window = w }

// Start is how the run began: its called runs begin alike.
func (s *Session) Start() *Start { return &s.start }

// Fold is the run as it is after the last round, for reading.
func (s *Session) Fold() *Fold { return s.fold }

// Rebuild replays a batch of the journal. The round is valid until the next call. Errors are those of [Fold.Replay]; a panic of the machine is
// one, too: other runs go on.
func (s *Session) Rebuild(b journal.Batch) (r *Round, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("run %s: the machine failed over an event of %d to %d of the journal, which is as it was: %v", s.start.Header.Run, b.First, b.Last(), p)
		}
	}()
	s.past.Batch = b
	if s.past.Events, err = s.fold.Replay(b, &s.past.Out); err != nil {
		return nil, err
	}
	if first := s.past.Events[0].RunStarted; first != nil {
		s.start.First = *first
	}
	return &s.past, nil
}

// Takeover is what a new driver knows of a run besides its journal and its inbox.
type Takeover struct {
	Driven bool // somebody has driven the run before
	Fresh  bool // the run was made just now, so that no clock of it has moved
	Parked bool // this host parked the run: it is as if somebody had driven it all the time
	Calls  bool // with Parked: nobody drives the runs that it called, so that this driver does
	// First is the first event of the run. It counts only where the journal is empty.
	First *event.RunStarted
	// Changed is what the machine hears of the change of driver, where it hears of it. Since may be 0: the run stood still from its last event on.
	// Lost counts only where the journal has events. Kept may name attempts that are not in flight: they are left out.
	Changed   event.DriverChanged
	Stopwatch time.Duration // as for [Session.Now]
}

// Beginning says what stands at the beginning of a drive.
type Beginning int

// The beginnings of drives.
const (
	// Begins: the run begins with its first event, which is queued.
	Begins Beginning = iota
	// Continues: the run goes on where it was parked.
	Continues
	// Acts: the effects of the journal's only batch are to be done, which is the last that was rebuilt or fed.
	Acts
	// Changes: a change of driver is queued. Before it is fed, the host ends the processes that the driver before has left.
	Changes
)

// Begin queues what comes between the past of a run and its first new event. What came while nobody drove the run goes first: it was queued before,
// so that the machine does not ask again for an attempt that nobody wants.
func (s *Session) Begin(t Takeover) Beginning {
	s.pace = pace{now: s.fold.Last(), looked: t.Stopwatch}
	pending := t.First != nil && s.fold.Seq() == 0
	if pending {
		s.start.First = *t.First
		if x := s.cancel(); x != nil {
			s.start.First.Cancelled, s.queue = CancelledEarly(x.Reason), nil
		}
		s.queue = append([]event.Event{{RunStarted: &s.start.First}}, s.queue...)
		if s.start.First.Cancelled != "" || t.Changed.Secrets == nil {
			return Begins
		}
	} else if !t.Driven && !t.Parked && len(s.queue) == 0 && (t.Fresh || len(s.fold.timers) == 0) && t.Changed.Secrets == nil {
		return Acts
	}
	for _, set := range s.fold.Timers() {
		s.timers.add(set)
	}
	if t.Parked && t.Changed.Secrets == nil {
		for _, run := range s.fold.Called() {
			if t.Calls {
				s.HandBack(run, nil)
			}
		}
		return Continues
	}
	c := t.Changed
	if c.Lost = c.Lost && !pending; c.Since == 0 {
		c.Since = s.fold.Last()
	}
	c.Kept = nil
	for _, ticket := range t.Changed.Kept {
		if works, flies := s.fold.flying[ticket]; flies {
			c.Kept = append(c.Kept, ticket)
			s.noteHanded(ticket, handed{watches: !works})
		}
	}
	s.queue = append(s.queue, event.Event{DriverChanged: &c})
	return Changes
}

// cancel returns the first cancel that is queued, or nil.
func (s *Session) cancel() *event.External {
	for _, ev := range s.queue {
		if ev.External != nil && ev.External.Kind == event.ExternalCancel {
			return ev.External
		}
	}
	return nil
}

// Now returns the time of the run, given the time of a clock and that of a stopwatch, which nobody sets. The stopwatch may begin anywhere.
func (s *Session) Now(clock event.Time, stopwatch time.Duration) event.Time {
	return s.pace.read(clock, stopwatch)
}

// Queued returns the events that wait for their batch, in order. A host may change the order.
func (s *Session) Queued() []event.Event { return s.queue }

// HasRoom reports whether the next batch has room for more events than those that wait.
func (s *Session) HasRoom() bool { return len(s.queue) < journal.MaxBatchEvents }

// Queue queues an event.
func (s *Session) Queue(ev event.Event) { s.queue = append(s.queue, ev) }

// Answer queues the answer of an attempt. It may be an answer that nobody waits for: the machine ignores that. StartedAt is not before
// the attempt was handed out, even if the clock of its executor is behind or the executor does not say.
func (s *Session) Answer(f *event.AttemptFinished) {
	if h, live := s.forgetHanded(f.Ticket); live {
		f.StartedAt = max(f.StartedAt, h.since)
	}
	s.Queue(event.Event{AttemptFinished: f})
}

// GiveBack hands an attempt out again: the worker that had it stops, and does nothing of it any more. The journal says nothing of this, and the
// attempt does not count as lost. An attempt that was cancelled meanwhile is answered. Nothing changes if the attempt was answered or given
// back before.
func (s *Session) GiveBack(a event.Attempt) {
	h, live := s.forgetHanded(a.Ticket)
	switch {
	case live && h.cancelled:
		f := NeverStarted(a)
		s.Queue(event.Event{AttemptFinished: &f})
	case live:
		s.ready = append(s.ready, a)
	}
}

func (s *Session) noteHanded(ticket uint64, h handed) {
	if s.live[ticket] = h; !h.watches {
		s.places++
	}
}

func (s *Session) forgetHanded(ticket uint64) (h handed, live bool) {
	if h, live = s.live[ticket]; live && !h.watches {
		s.places--
	}
	delete(s.live, ticket)
	return h, live
}

// Waiting reports whether something waits to be handed out, for which there is room.
func (s *Session) Waiting() bool {
	return len(s.ready) > 0 && s.hasRoom(&s.ready[0]) || len(s.waiting) > 0 && (!s.waiting[0].waits || s.hasRoomForChild())
}

// Message queues a message of the inbox. A message that was queued already is left out, until it is durable.
func (s *Session) Message(x event.External) {
	if !s.taken[x.Inbox] {
		s.taken[x.Inbox] = true
		s.Queue(event.Event{External: &x})
	}
}

// Fire queues the timers that are due, limit at most, in order of (due, number). It reports how many there were.
func (s *Session) Fire(now event.Time, limit int) (fired int) {
	for ; fired < limit; fired++ {
		t, ok := s.timers.due(now)
		if !ok {
			break
		}
		s.Queue(event.Event{TimerFired: &event.TimerFired{Timer: t.Timer, Node: t.Node}})
	}
	return fired
}

// NextTimer returns when the next timer is due; ok is false if none is set.
func (s *Session) NextTimer() (due event.Time, ok bool) {
	t, ok := s.timers.next()
	return t.Due, ok
}

// ChildEnded queues the end of a child that was handed out, or an answer in its place.
func (s *Session) ChildEnded(f event.ChildFinished) {
	s.ChildLeft(f.Run)
	s.Queue(event.Event{ChildFinished: &f})
}

// ChildLeft notes that a child which was handed out has not ended and is not driven for this run any more. HandBack gives it back.
func (s *Session) ChildLeft(run string) {
	if k := s.children[run]; k != nil && !k.waits {
		s.driven--
	}
	delete(s.children, run)
}

// HandBack takes a called run back that was driven elsewhere: its end, or the run itself to be driven here, if end is nil. It changes nothing if
// the run has ended already. It reports false if the session still has the run: the host asks again after ChildLeft.
func (s *Session) HandBack(run string, end *event.End) bool {
	node, called := s.fold.CalledBy(run)
	ask := event.StartChild{Run: run, Node: node}
	switch {
	case s.HasChild(run):
		return false
	case called && end != nil:
		s.ChildEnded(Finished(ask, *end))
	case called:
		k := &child{ask: ask, waits: true}
		s.children[run], s.waiting = k, append(s.waiting, k)
	}
	return true
}

// HasChild reports whether a child was asked for, has not ended, and is not driven elsewhere.
func (s *Session) HasChild(run string) bool { return s.children[run] != nil }

// Children is how many children HasChild reports.
func (s *Session) Children() int { return len(s.children) }

// OnlyWatches reports whether something is in flight, and all of it watches sources.
func (s *Session) OnlyWatches() bool {
	return len(s.fold.flying) > 0 && !s.fold.works() && len(s.children) == 0
}

// MinParked is how far away the next timer of a run must be for the run to be parked. Parking costs a commit and a
// replay.
const MinParked = time.Second

// CanPark reports whether the run can be parked, if its called runs can be: nothing is queued, in flight or waiting to be handed out, and its
// next timer is due late enough; due is 0 if no timer is set.
func (s *Session) CanPark(now event.Time) (due event.Time, can bool) {
	due, idle := s.fold.DueBesideCalls()
	return due, idle && len(s.queue) == 0 && s.driven == len(s.children) && (due == 0 || due.Sub(now) >= MinParked)
}

// Feed makes a round of the queued events, of as many as a batch holds. The round's batch must be durable before its effects are done. The
// next round may be fed before. Errors, of which a panic of the machine is one, mean that the drive is over.
func (s *Session) Feed(now event.Time) (r *Round, err error) {
	before := s.fold.Seq()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("run %s: the machine failed after event %d: %v", s.start.Header.Run, before, p)
		}
	}()
	if r = new(Round); len(s.spare) > 0 {
		r = s.spare[len(s.spare)-1]
		s.spare = s.spare[:len(s.spare)-1]
	}
	if r.Batch, err = s.fold.Feed(now, s.queue, &r.Out); err != nil {
		return nil, err
	}
	n := r.Batch.Count
	r.Events, s.queue = s.queue[:n], append(r.Events[:0], s.queue[n:]...)
	return r, nil
}

// Reuse gives a round back.
func (s *Session) Reuse(r *Round) { s.spare = append(s.spare, r) }

// Effects returns what a durable round asks the host to do, in order, and before and after that what waited for the window. The host does each effect
// before it takes the next; it may queue answers meanwhile. The round may be nil.
func (s *Session) Effects(r *Round) iter.Seq[Effect] {
	return func(yield func(Effect) bool) {
		if s.handOut(yield) && r != nil && s.effectsOf(r, yield) {
			s.handOut(yield)
		}
	}
}

func (s *Session) effectsOf(r *Round, yield func(Effect) bool) bool {
	for i := range r.Events {
		if x := r.Events[i].External; x != nil {
			delete(s.taken, x.Inbox)
		}
	}
	commands := Once(r.Out.Commands)
	ends := len(commands) > 0 && commands[len(commands)-1].End != nil
	unwanted, wishes := Unwanted(commands), Wishes(commands)
	for run, w := range wishes { // any order: one wish for each. A child that waits is then handed out with its wish
		if k := s.children[run]; k != nil && w.Cancels > k.wish.Cancels {
			k.wish = w
		}
	}
	for i := range commands {
		more := true
		switch c := &commands[i]; {
		case ends && c.Start != nil: // a second cancel came with the first one
			more = yield(Effect{Never: c.Start})
		case c.Start != nil && unwanted[c.Start.Ticket]:
			more = s.answerUnstarted(c.Start, yield)
		case c.Start != nil:
			more = s.startAttempt(c.Start, yield)
		case c.Cancel != nil:
			more = s.cancelAttempt(c.Cancel, yield)
		case c.SetTimer != nil:
			s.timers.add(*c.SetTimer)
		case c.CancelTimer != nil:
			s.timers.cancel(c.CancelTimer.Timer)
		case c.StartChild != nil:
			more = s.startChild(c.StartChild, wishes[c.StartChild.Run], yield)
		case c.CancelChild != nil:
			more = s.cancelChild(c.CancelChild.Run, wishes[c.CancelChild.Run], yield)
		}
		if !more {
			return false
		}
	}
	return true
}

// answerUnstarted answers an attempt that is cancelled before it is handed out.
func (s *Session) answerUnstarted(a *event.Attempt, yield func(Effect) bool) bool {
	f := NeverStarted(*a)
	s.Queue(event.Event{AttemptFinished: &f})
	return yield(Effect{Never: a})
}

// startAttempt hands an attempt out, or lets it wait. An attempt that a worker has is not handed out twice.
func (s *Session) startAttempt(a *event.Attempt, yield func(Effect) bool) bool {
	if _, live := s.live[a.Ticket]; live {
		return true
	}
	if !s.hasRoom(a) || len(s.ready) > 0 && !a.IsWatch() {
		s.ready = append(s.ready, *a)
		return true
	}
	return s.handOutAttempt(a, yield)
}

func (s *Session) hasRoom(a *event.Attempt) bool {
	return s.window.Attempts == 0 || s.places < s.window.Attempts || a.IsWatch()
}

func (s *Session) handOutAttempt(a *event.Attempt, yield func(Effect) bool) bool {
	s.noteHanded(a.Ticket, handed{since: s.fold.Last(), watches: a.IsWatch()})
	return yield(Effect{Start: a})
}

// cancelAttempt ends an attempt, which may wait.
func (s *Session) cancelAttempt(c *event.CancelAttempt, yield func(Effect) bool) bool {
	for i := range s.ready {
		if a := s.ready[i]; a.Ticket == c.Ticket {
			s.ready = append(s.ready[:i], s.ready[i+1:]...)
			return s.answerUnstarted(&a, yield)
		}
	}
	if h, live := s.live[c.Ticket]; live {
		h.cancelled = true
		s.live[c.Ticket] = h
	}
	return yield(Effect{Cancel: c})
}

// startChild hands a child out, or lets it wait, or answers for it.
func (s *Session) startChild(ask *event.StartChild, wish Wish, yield func(Effect) bool) bool {
	if s.HasChild(ask.Run) {
		return true
	}
	if no := TooDeep(s.start.First, *ask); no != nil {
		s.ChildEnded(*no)
		return true
	}
	k := &child{ask: *ask, wish: wish, waits: true}
	s.children[ask.Run] = k
	if wish.Cancels == 0 && !s.hasRoomForChild() {
		s.waiting = append(s.waiting, k)
		return true
	}
	return s.handOutChild(k, yield)
}

func (s *Session) handOutChild(k *child, yield func(Effect) bool) bool {
	k.waits = false
	s.driven++
	return yield(Effect{Child: &k.ask, Wish: k.wish})
}

// cancelChild passes a wish on. Nothing is done for a child that has ended.
func (s *Session) cancelChild(run string, wish Wish, yield func(Effect) bool) bool {
	k, called := s.children[run], true
	if k != nil {
		wish = k.wish
	} else {
		_, called = s.fold.CalledBy(run)
	}
	switch {
	case !called:
		return true
	case k != nil && k.waits:
		return s.handOutChild(k, yield)
	}
	return yield(Effect{CancelChild: run, Wish: wish})
}

func (s *Session) hasRoomForChild() bool {
	return s.window.Children == 0 || s.driven < s.window.Children
}

// handOut hands out what waits for the window, as far as it has room.
func (s *Session) handOut(yield func(Effect) bool) bool {
	for len(s.ready) > 0 && s.hasRoom(&s.ready[0]) {
		a := s.ready[0]
		if s.ready = s.ready[1:]; !s.handOutAttempt(&a, yield) {
			return false
		}
	}
	for len(s.waiting) > 0 && (!s.waiting[0].waits || s.hasRoomForChild()) {
		k := s.waiting[0]
		if s.waiting = s.waiting[1:]; k.waits && !s.handOutChild(k, yield) {
			return false
		}
	}
	return true
}

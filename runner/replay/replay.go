// Package replay runs yesterday's journal against another machine, and says what would have been different.
//
// A journal is what the world answered. A [World] learns it by watching the run's own machine repeat it: what was asked, what the
// answer was and how long it took, for each attempt by its node, number and gate, for each call by its node, and for each timer how
// late it fired. Then it is the world of another machine: it answers what that one asks as the journal does, in virtual time. With
// the machine of the same program this gives the same events again, to the nanosecond.
//
// Where the other machine asks for something that the journal has no answer to, nothing is guessed: the attempt stays
// under way, it is told as new, and what waits for it is left open. What asks for the same attempt in other words gets the answer
// of then, and is told as changed. An attempt that was cut off then, and is not now, has no answer either.
//
// The package does no I/O, knows no machine and reads no clock. Enter at [NewWorld] and [World.Run]; [Compare] finds the
// differences between two views.
package replay

import (
	"fmt"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/heap"
	"github.com/flowrun/flowrun/runner/view"
)

// MaxEvents bounds the events of one replay.
const MaxEvents = 2_000_000

// Slice is how much of a machine's work is done at a time.
const Slice = 4096

// Machine is what is given a world: a flowrun machine, or any other with the same manners.
type Machine interface {
	Step(event.Event) error
	Advance(budget int, out *event.Reaction) (more bool)
}

// Request is an attempt or a call that a machine asked for.
type Request struct {
	Node       string `json:"node"`
	Attempt    int    `json:"attempt,omitempty"` // 0 of a call
	Gate       string `json:"gate,omitempty"`
	Compensate bool   `json:"compensate,omitempty"`
	// Workflow is the one that is called.
	Workflow string `json:"workflow,omitempty"`
	// Differs names what is asked for in other words than then.
	Differs []string `json:"differs,omitempty"`
	// Changes are, of [World.Reuse], the values that are not those of then, MaxChanges of them at most. Why says in words why what is
	// asked for has no answer, where that is not simply because nobody asked for it then.
	Changes []Change `json:"changes,omitempty"`
	Why     string   `json:"why,omitempty"`
}

// Outcome is what became of a run in a world.
type Outcome struct {
	View    *view.Run
	Events  []event.Event
	Ended   bool
	New     []Request // nobody knows how they would have ended
	Changed []Request // they ended as then, though they are not the same
}

// Run gives a machine its first event and the answers of this world, until it has ended or there is nothing more to answer. Of a
// journal whose run has not ended, no more is fed than had happened. v is a fresh view.
func (w *World) Run(m Machine, first event.RunStarted, v *view.Run) (*Outcome, error) {
	return w.run(&host{}, m, first, v)
}

func (w *World) run(h *host, m Machine, first event.RunStarted, v *view.Run) (*Outcome, error) {
	*h = host{reuse: h.reuse, world: w, machine: m, out: &Outcome{View: v}, now: w.began, live: map[uint64]*event.Attempt{}, calls: map[string]*event.StartChild{},
		nth: map[key]int{}, timers: map[uint64]bool{}, held: map[any]*answer{}, ending: map[any]bool{}, since: map[uint64]event.Time{}}
	h.put(w.began, 0, event.Event{RunStarted: &first})
	for i := range w.others {
		h.put(w.others[i].At, w.others[i].Seq, w.others[i])
	}
	for len(h.queue) > 0 && !h.out.Ended {
		next := h.queue.Pop()
		if !w.ended && next.at > w.last {
			break
		}
		if len(h.out.Events) == MaxEvents {
			return nil, fmt.Errorf("the run has more than %d events", MaxEvents)
		}
		if err := h.feed(next); err != nil {
			return nil, err
		}
	}
	return h.out, nil
}

// host is the one that a machine has here.
type host struct {
	reuse   *reuse // nil: what is asked for in other words has the answer of then
	world   *World
	machine Machine
	out     *Outcome
	now     event.Time
	queue   heap.Heap[item]
	placed  uint64
	live    map[uint64]*event.Attempt    // by ticket
	calls   map[string]*event.StartChild // by run
	nth     map[key]int                  // how often each was asked for
	timers  map[uint64]bool
	held    map[any]*answer       // of what was cut off then, until it is cut off now; by ticket or run
	ending  map[any]bool          // what was cut off now; asked again, it changes nothing
	since   map[uint64]event.Time // when attempts were asked for, by ticket
}

// feed steps the machine and takes up what it asks for.
func (h *host) feed(next item) error {
	ev := next.event
	if t := ev.TimerFired; t != nil && !h.timers[t.Timer] {
		return nil // it was taken back
	}
	h.now = max(h.now, next.at)
	ev.Seq, ev.At = uint64(len(h.out.Events)+1), h.now
	whole, err := ev.Whole()
	if err != nil {
		return err
	}
	if err := h.machine.Step(whole); err != nil {
		return err
	}
	h.out.Events = append(h.out.Events, ev)
	var r event.Reaction
	for h.machine.Advance(Slice, &r) {
	}
	h.out.View.Apply([]event.Event{ev}, &r)
	if f := ev.AttemptFinished; f != nil {
		delete(h.live, f.Ticket)
	}
	if f := ev.ChildFinished; f != nil {
		delete(h.calls, f.Run)
	}
	for i := range r.Commands {
		h.take(&r.Commands[i])
	}
	return nil
}

func (h *host) take(c *event.Command) {
	switch {
	case c.Start != nil && h.live[c.Start.Ticket] == nil:
		h.live[c.Start.Ticket], h.since[c.Start.Ticket] = c.Start, h.now
		h.start(c.Start)
	case c.StartChild != nil && h.calls[c.StartChild.Run] == nil:
		h.calls[c.StartChild.Run] = c.StartChild
		h.call(c.StartChild)
	case c.Cancel != nil && h.live[c.Cancel.Ticket] != nil:
		h.cut(c.Cancel.Ticket, func(a *answer) *event.Event { return h.finished(h.live[c.Cancel.Ticket], a) })
	case c.CancelChild != nil && h.calls[c.CancelChild.Run] != nil:
		h.cut(c.CancelChild.Run, func(a *answer) *event.Event { return h.childFinished(h.calls[c.CancelChild.Run], a) })
	case c.SetTimer != nil:
		k := timerKey(c.SetTimer)
		late, seq := h.world.late(k, h.nth[k])
		if n := h.next(k); h.reuse != nil && c.SetTimer.Purpose == event.TimerWait && !h.waited(c.SetTimer, k, n) {
			return
		}
		h.timers[c.SetTimer.Timer] = true
		h.put(c.SetTimer.Due.Add(late), seq, event.Event{TimerFired: &event.TimerFired{Timer: c.SetTimer.Timer, Node: c.SetTimer.Node}})
	case c.CancelTimer != nil:
		delete(h.timers, c.CancelTimer.Timer)
	case c.Ask != nil && h.reuse != nil:
		h.decide(c.Ask)
	case c.End != nil:
		h.out.Ended = true
	}
}

// next counts how often a key has come, from 0.
func (h *host) next(k key) int {
	n := h.nth[k]
	h.nth[k]++
	return n
}

// start answers an attempt as the journal does, if it does.
func (h *host) start(a *event.Attempt) {
	r := Request{Node: a.Node, Attempt: a.Attempt, Gate: a.Gate, Compensate: a.Compensate}
	h.ask(attemptKey(a), a.Ticket, r, a, func(got *answer) *event.Event { return h.finished(a, got) })
}

func (h *host) call(c *event.StartChild) {
	r := Request{Node: c.Node, Workflow: c.Workflow}
	h.ask(callKey(c), c.Run, r, c, func(got *answer) *event.Event { return h.childFinished(c, got) })
}

// ask looks up how a request was answered then. asked is the request as the machine put it, id what it is cut off by.
func (h *host) ask(k key, id any, r Request, asked any, ev func(*answer) *event.Event) {
	got := h.world.answer(k, h.next(k))
	if h.reuse != nil && !h.mayReuse(&got, &r, asked) {
		return
	}
	if got == nil {
		h.out.New = append(h.out.New, r)
		return
	}
	if h.reuse != nil {
		h.reply(id, got, ev, r)
		return
	}
	if r.Differs = differs(got.request, asked); r.Differs != nil {
		h.out.Changed = append(h.out.Changed, r)
	}
	h.reply(id, got, ev, r)
}

// reply sends an answer after the time that it took. What was cut off then is answered when it is cut off now; where no answer ever
// came, none comes.
func (h *host) reply(id any, got *answer, ev func(*answer) *event.Event, r Request) {
	switch {
	case got.cutAt != 0:
		h.held[id] = got
	case got.event != nil:
		h.put(h.now.Add(got.took), got.seq, *ev(got))
	case h.world.ended && !got.again:
		h.out.New = append(h.out.New, r)
	}
}

// cut answers what the machine asks to end: as then, if it was cut off then, else at once.
func (h *host) cut(id any, ev func(*answer) *event.Event) {
	if h.ending[id] {
		return
	}
	h.ending[id] = true
	switch got := h.held[id]; {
	case got == nil:
		h.put(h.now, 0, *ev(nil))
	case got.event == nil: // then, nobody waited for it any more
		h.put(max(h.now, h.world.last), 0, *ev(nil))
	default:
		h.put(h.now.Add(got.at.Sub(got.cutAt)), got.seq, *ev(got))
	}
}

// finished is the answer of then, to the question of now. Without one, the attempt was cut off.
func (h *host) finished(a *event.Attempt, got *answer) *event.Event {
	f := event.AttemptFinished{Outcome: event.Failed, Error: cutOff()}
	if got != nil {
		f = *got.event.AttemptFinished
		if f.StartedAt != 0 {
			f.StartedAt = h.since[a.Ticket].Add(f.StartedAt.Sub(got.asked))
		}
	}
	f.Ticket, f.Node, f.Attempt, f.Gate, f.Compensate = a.Ticket, a.Node, a.Attempt, a.Gate, a.Compensate
	return &event.Event{AttemptFinished: &f}
}

func (h *host) childFinished(c *event.StartChild, got *answer) *event.Event {
	f := event.ChildFinished{Status: event.Cancelled, Error: cutOff()}
	if got != nil {
		f = *got.event.ChildFinished
	}
	f.Run, f.Node = c.Run, c.Node
	return &event.Event{ChildFinished: &f}
}

func cutOff() *event.Error {
	return &event.Error{Kind: event.Fatal, Reason: event.ReasonCancelled, Message: "it was cut off", ExitCode: -1}
}

// put places an event in time. Among those of one moment the order is that of the journal; what it does not have comes last. While
// nobody drove the run nothing happened: what would have been then comes to the next driver.
func (h *host) put(at event.Time, seq uint64, ev event.Event) {
	h.placed++
	for i := range h.world.others {
		if d := &h.world.others[i]; d.DriverChanged != nil && d.DriverChanged.Since != 0 && d.DriverChanged.Since < at && at < d.At {
			at, seq = d.At, 0
		}
	}
	if seq == 0 && ev.RunStarted == nil {
		seq = 1 << 63
	}
	h.queue.Push(item{at, seq, h.placed, ev})
}

type item struct {
	at     event.Time
	seq    uint64
	placed uint64
	event  event.Event
}

// Before implements heap.Heap.
func (i item) Before(other item) bool {
	switch {
	case i.at != other.at:
		return i.at < other.at
	case i.seq != other.seq:
		return i.seq < other.seq
	}
	return i.placed < other.placed
}

// took is how long something took, never less than nothing.
func took(from, to event.Time) time.Duration { return max(0, to.Sub(from)) }

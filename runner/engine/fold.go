package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"maps"
	"slices"
	"sort"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// Slice is how many units of a machine's work are done between two looks at the world: 4 ms of the usual ones. Steps of the evaluator have a
// bound of their own: see [Fold.SetPause].
const Slice = 1024

// Fold is a machine together with its journal: the part of a host that needs no clock, no disk and no goroutine.
// It is not safe for concurrent use.
type Fold struct {
	header  journal.Header
	machine Machine
	read    *journal.Reader
	write   *journal.Writer
	digest  digest
	seq     uint64
	last    event.Time
	timers  map[uint64]event.SetTimer
	flying  map[uint64]bool   // attempts that have not answered, by ticket; false: it watches a source
	called  map[string]string // children that have not ended, and the nodes that called them
	end     *event.End
	seen    event.Reaction // to the event at hand
	// slice is Slice; tests try others.
	slice int
	pause func() error // between two slices; nil: nobody looks
	left  error        // why the machine was left in the middle of a slice
}

// NewFold joins a fresh machine and the header of the journal that it will read or write.
func NewFold(h journal.Header, m Machine) *Fold {
	return &Fold{header: h, machine: m, read: journal.NewReader(h), digest: newDigest(), timers: map[uint64]event.SetTimer{}, flying: map[uint64]bool{}, called: map[string]string{}, slice: Slice}
}

// SetSlice changes how much work is done at a time. It must not change anything that can be seen.
func (f *Fold) SetSlice(n int) { f.slice = n }

// Bind says where the artifacts of the run lie. A restored fold does not know.
func (f *Fold) Bind(from event.Artifacts) {
	if m, can := f.machine.(interface{ Bind(event.Artifacts) }); can {
		m.Bind(from)
	}
}

// SetPause lets the fold call pause between two slices of work, of which none takes long: a machine that evaluates ends a slice in the middle of an
// expression, too. An error of pause ends the call that is under way, and the fold is unusable: the journal is as it was.
func (f *Fold) SetPause(pause func() error) {
	f.pause = pause
	if m, can := f.machine.(interface{ SetPause(pause func()) }); can {
		m.SetPause(func() {
			if err := pause(); err != nil {
				f.left = err // whoever recovers
				panic(errLeft)
			}
		})
	}
}

// errLeft is the panic of a machine that is left in the middle of a slice.
var errLeft = errors.New("the machine is left")

// ReadsMachine reports whether the run reads figures of the machine that the host runs on, as [event.ExternalMetrics] has them.
func (f *Fold) ReadsMachine() bool {
	m, ok := f.machine.(interface{ ReadsMachine() bool })
	return ok && m.ReadsMachine()
}

// Replay feeds one stored batch and returns its events. The reaction, valid until the next call, is for views only.
// Errors: *Diverged, or one that wraps journal.ErrBroken.
func (f *Fold) Replay(b journal.Batch, out *event.Reaction) ([]event.Event, error) {
	events, err := f.read.Read(b)
	if err != nil {
		return nil, err
	}
	out.Reset()
	for _, ev := range events {
		if err := f.stepMachine(ev, out); err != nil {
			return nil, err
		}
	}
	if err := f.checkDigest(b); err != nil {
		return nil, err
	}
	return events, nil
}

// Trace is Replay that calls each with every event and the event's own reaction, which is valid during
// the call. Trace stops if each returns false. A divergence is found only at the end of a batch, after
// the calls for all of its events.
func (f *Fold) Trace(b journal.Batch, each func(event.Event, *event.Reaction) bool) error {
	events, err := f.read.Read(b)
	if err != nil {
		return err
	}
	var out event.Reaction
	for _, ev := range events {
		out.Reset()
		if err := f.stepMachine(ev, &out); err != nil {
			return err
		}
		if !each(ev, &out) {
			return nil
		}
	}
	return f.checkDigest(b)
}

// checkDigest compares the reaction to the batch with the digest in the batch.
func (f *Fold) checkDigest(b journal.Batch) error {
	if have := f.digest.sum(); have != b.Digest {
		return &Diverged{Run: f.header.Run, Event: b.Last(), Want: b.Digest, Have: have}
	}
	return nil
}

// Feed stamps events with their numbers and the time now (never earlier than the event before), steps the machine,
// and returns the batch that must be durable before out is acted upon. Feed fills in Seq and At of the events, and lowers an
// attempt's StartedAt to At if the clock of its executor is ahead. It takes as many events as one batch holds: the first Count of
// the batch; the caller keeps the rest for the next.
func (f *Fold) Feed(now event.Time, events []event.Event, out *event.Reaction) (journal.Batch, error) {
	if f.write == nil {
		f.write = journal.NewWriter(f.read.Next(), f.read.Link())
	}
	out.Reset()
	for i := range events {
		if f.write.Full() || f.end != nil {
			break
		}
		events[i].Seq, events[i].At = f.seq+1, max(now, f.last)
		if a := events[i].AttemptFinished; a != nil {
			a.StartedAt = min(a.StartedAt, events[i].At)
		}
		if err := f.write.Add(events[i]); err != nil {
			return journal.Batch{}, err
		}
		if err := f.stepMachine(events[i], out); err != nil {
			return journal.Batch{}, err
		}
	}
	return f.write.Cut(f.digest.sum()), nil
}

func (f *Fold) stepMachine(ev event.Event, out *event.Reaction) (err error) {
	if f.pause != nil {
		defer func() {
			p := recover()
			if f.left != nil {
				err, p = f.left, nil
			}
			if p != nil {
				panic(p)
			}
		}()
	}
	whole, err := ev.Whole()
	if err != nil {
		return fmt.Errorf("run %s: event %d: %w", f.header.Run, ev.Seq, err)
	}
	if err := f.machine.Step(whole); err != nil {
		return err
	}
	f.seq, f.last = ev.Seq, ev.At
	switch {
	case ev.TimerFired != nil:
		delete(f.timers, ev.TimerFired.Timer)
	case ev.AttemptFinished != nil:
		delete(f.flying, ev.AttemptFinished.Ticket)
	case ev.ChildFinished != nil:
		delete(f.called, ev.ChildFinished.Run)
	case ev.DriverChanged != nil: // the machine asks again for all that it still wants, and earlier events of the batch may have asked
		maps.DeleteFunc(f.flying, func(ticket uint64, _ bool) bool { return !slices.Contains(ev.DriverChanged.Kept, ticket) })
		clear(f.called)
		out.Commands = slices.DeleteFunc(out.Commands, func(c event.Command) bool { return c.Start != nil || c.StartChild != nil })
	}
	seen := &f.seen
	*seen = event.Reaction{Commands: out.Commands[len(out.Commands):], Transitions: out.Transitions[len(out.Transitions):]}
	for more := true; more; {
		if more = f.machine.Advance(f.slice, seen); more && f.pause != nil {
			if err := f.pause(); err != nil {
				return err
			}
		}
	}
	if m, can := f.machine.(interface{ Broken() error }); can && m.Broken() != nil {
		return fmt.Errorf("run %s: event %d: %w", f.header.Run, ev.Seq, m.Broken())
	}
	f.digest.add(seen)
	for _, c := range seen.Commands {
		switch {
		case c.Start != nil:
			f.flying[c.Start.Ticket] = !c.Start.IsWatch()
		case c.StartChild != nil:
			f.called[c.StartChild.Run] = c.StartChild.Node
		case c.SetTimer != nil:
			f.timers[c.SetTimer.Timer] = *c.SetTimer
		case c.CancelTimer != nil:
			delete(f.timers, c.CancelTimer.Timer)
		case c.End != nil:
			f.end = c.End
		}
	}
	out.Commands = join(out.Commands, seen.Commands)
	out.Transitions = join(out.Transitions, seen.Transitions)
	return nil
}

// join is append, but copies nothing behind an empty list.
func join[T any](list, more []T) []T {
	if len(list) == 0 {
		return more
	}
	return append(list, more...)
}

// Timers returns the set timers in firing order: (due, number).
func (f *Fold) Timers() []event.SetTimer {
	list := make([]event.SetTimer, 0, len(f.timers))
	for _, t := range f.timers { // any order: sorted below
		list = append(list, t)
	}
	sort.Slice(list, func(i, j int) bool {
		if list[i].Due != list[j].Due {
			return list[i].Due < list[j].Due
		}
		return list[i].Timer < list[j].Timer
	})
	return list
}

// Due reports whether nothing of the run is in flight, and when its first timer is due then; 0 if no timer is set.
func (f *Fold) Due() (due event.Time, idle bool) {
	if len(f.called) > 0 {
		return 0, false
	}
	return f.DueBesideCalls()
}

// DueBesideCalls is Due for a host that takes care of the called runs itself: they do not count as in flight.
func (f *Fold) DueBesideCalls() (due event.Time, idle bool) {
	if len(f.flying) > 0 || f.end != nil {
		return 0, false
	}
	for _, t := range f.timers { // any order: the minimum
		if due == 0 || t.Due < due {
			due = t.Due
		}
	}
	return due, true
}

// works reports whether anything is in flight but watches of sources.
func (f *Fold) works() bool {
	for _, works := range f.flying { // any order: one is enough
		if works {
			return true
		}
	}
	return false
}

// CalledBy returns the node that called a run; called is false if no node did, or if the run has ended.
func (f *Fold) CalledBy(run string) (node string, called bool) {
	node, called = f.called[run]
	return node, called
}

// Called returns the called runs that have not ended, in the order of their ids.
func (f *Fold) Called() []string { return slices.Sorted(maps.Keys(f.called)) }

// Seq is the number of the last event, 0 before the first.
func (f *Fold) Seq() uint64 { return f.seq }

// Last is the time of the last event.
func (f *Fold) Last() event.Time { return f.last }

// End returns the end of the run, or nil while it has none.
func (f *Fold) End() *event.End { return f.end }

// digest is a running SHA-256 over reactions. Its first 64 bits are stored.
type digest struct {
	h   hash.Hash
	buf []byte
}

func newDigest() digest { return digest{h: sha256.New()} }

func (d *digest) add(r *event.Reaction) {
	for i := range r.Commands { // one after the other: the first event of a wide fan-out has very many
		one := event.Reaction{Commands: r.Commands[i : i+1]}
		d.buf = one.AppendDigest(d.buf[:0])
		d.h.Write(d.buf)
	}
}

func (d *digest) sum() uint64 { return binary.BigEndian.Uint64(d.h.Sum(nil)) }

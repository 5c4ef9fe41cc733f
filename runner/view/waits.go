package view

import (
	"maps"
	"slices"

	"github.com/flowrun/flowrun/runner/event"
)

// work is what of a run is in flight. The zero value is that of a run that has not begun.
type work struct {
	attempts map[uint64]bool   // live ones, by ticket
	called   map[string]string // runs that have not ended, and the paths of the nodes that called them
	waits    bool              // see CalledWait
}

// takeEvent takes in what an event ends.
func (w *work) takeEvent(ev *event.Event) {
	switch {
	case ev.AttemptFinished != nil:
		delete(w.attempts, ev.AttemptFinished.Ticket)
	case ev.ChildFinished != nil:
		delete(w.called, ev.ChildFinished.Run)
	case ev.DriverChanged != nil: // the machine asks again for all that it still wants
		clear(w.attempts)
		clear(w.called)
	}
}

// takeCommand takes in what a command begins.
func (w *work) takeCommand(c *event.Command) {
	switch {
	case c.Start != nil && !c.Start.IsWatch():
		if w.attempts == nil {
			w.attempts = map[uint64]bool{}
		}
		w.attempts[c.Start.Ticket] = true
	case c.StartChild != nil:
		if w.called == nil {
			w.called = map[string]string{}
		}
		w.called[c.StartChild.Run] = c.StartChild.Node
	}
}

// Called returns the ids of the called runs that have not ended, sorted.
func (r *Run) Called() []string { return slices.Sorted(maps.Keys(r.work.called)) }

// CalledWait says of a run that has called others whether all of them wait. A journal does not know that: without this word, such a run
// is running.
func (r *Run) CalledWait(all bool) {
	r.work.waits = all
	r.settle()
}

// settle sets the status of a run that has begun and has not ended.
func (r *Run) settle() {
	switch {
	case r.Status == event.Pending || r.Status.Terminal():
	case len(r.work.attempts) == 0 && (len(r.work.called) == 0 || r.work.waits):
		r.Status = event.Waiting
	default:
		r.Status = event.Running
	}
}

// timersOf returns what the nodes wait for whose timers a reaction sets; nil if there are none.
func timersOf(reaction *event.Reaction) (waits map[string]*event.WaitsFor) {
	for i := range reaction.Commands {
		c := reaction.Commands[i].SetTimer
		if c == nil || !goesOn[c.Purpose] {
			continue
		}
		if waits == nil {
			waits = map[string]*event.WaitsFor{}
		}
		waits[c.Node] = &event.WaitsFor{Kind: event.WaitTimer, Name: string(c.Purpose), Until: c.Due}
	}
	return waits
}

// waitForChild notes that a node waits for the run that it called, or does not any more.
func (r *Run) waitForChild(node, run string) {
	n := r.byPath[node]
	if n != nil {
		n.text = nil
	}
	switch {
	case n == nil:
	case run != "":
		n.Child, n.WaitsFor = run, &event.WaitsFor{Kind: event.WaitChild, Name: run}
	case n.WaitsFor != nil && n.WaitsFor.Kind == event.WaitChild:
		n.WaitsFor = nil
	}
}

// Wait is a node that waits, and what for.
type Wait struct {
	Node string `json:"node"` // the instance's path; "" for the run itself
	*WaitsForDoc
}

// MaxWaits bounds the list of [Run.Waits].
const MaxWaits = 20

// Waits lists what the nodes of a run wait for, in the order of the view, MaxWaits of them at most. It is empty, not nil, if nothing waits.
func (r *Run) Waits() []Wait {
	list := []Wait{}
	if r.WaitsFor != nil {
		list = append(list, Wait{"", WaitsForDocument(r.WaitsFor)})
	}
	r.Each(func(n *Node, _ int) {
		if n.WaitsFor != nil && len(list) < MaxWaits {
			list = append(list, Wait{n.Path, WaitsForDocument(n.WaitsFor)})
		}
	})
	return list
}

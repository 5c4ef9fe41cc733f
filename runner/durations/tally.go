package durations

import (
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// Tally watches one run. The zero value is ready. It is not safe for concurrent use.
type Tally struct {
	live  map[string]int64 // by path: what attempts of those under way took so far, in microseconds; -1: there was none
	whole map[string]bool  // paths of what had instances or iterations, and has not ended
	nodes map[string]*seen // by name
	full  bool
}

// seen is what is known of one node.
type seen struct {
	samples []int64
	every   int // one in so many is taken
	ends    int
}

// Add takes a batch in: its events, and what the machine made of them.
func (t *Tally) Add(events []event.Event, r *event.Reaction) {
	if t.full {
		return
	}
	if t.live == nil {
		t.live, t.whole, t.nodes = map[string]int64{}, map[string]bool{}, map[string]*seen{}
	}
	for i := range events {
		if a := events[i].AttemptFinished; a != nil && !a.Compensate && a.StartedAt != 0 {
			t.attempt(a.Node, events[i].At.Sub(a.StartedAt).Microseconds())
		}
	}
	for i := range r.Transitions {
		if tr := &r.Transitions[i]; tr.Node != "" && tr.Gate == nil && tr.Note == "" {
			t.transition(tr)
		}
	}
	if len(t.nodes) > MaxNodes {
		*t = Tally{full: true}
	}
}

// attempt adds what one took. A node that is not under way has moved on.
func (t *Tally) attempt(path string, us int64) {
	if sum, ok := t.live[path]; ok {
		t.live[path] = max(sum, 0) + max(us, 0)
	}
}

func (t *Tally) transition(tr *event.Transition) {
	if !tr.To.Terminal() {
		if _, ok := t.live[tr.Node]; !ok {
			t.live[tr.Node] = -1
		}
		return
	}
	us, acted := t.live[tr.Node]
	delete(t.live, tr.Node)
	part := false // of a for_each or repeat
	if up := view.Parent(tr.Node); up != "" && view.Base(up) == tr.Name {
		part, t.whole[up] = true, true
	}
	if t.whole[tr.Node] {
		delete(t.whole, tr.Node)
		return
	}
	if tr.To != event.Succeeded || tr.Result == nil || tr.Result.Reused || tr.Result.Set {
		return
	}
	if us < 0 || !acted {
		us = -1
		if took := tr.Result.FinishedAt.Sub(tr.Result.StartedAt); tr.Kind == "step" && tr.Result.StartedAt != 0 && took > 0 {
			us = took.Microseconds()
		}
	}
	if us < 0 && !part {
		return
	}
	n := t.nodes[tr.Name]
	if n == nil {
		n = &seen{every: 1}
		t.nodes[tr.Name] = n
	}
	n.add(us)
}

// add counts one end, and takes its duration if that is known and its turn.
func (n *seen) add(us int64) {
	n.ends++
	if us < 0 || n.ends%n.every != 0 {
		return
	}
	if len(n.samples) == MaxSamples {
		for i := range MaxSamples / 2 {
			n.samples[i] = n.samples[2*i+1]
		}
		n.samples = n.samples[:MaxSamples/2]
		if n.every *= 2; n.ends%n.every != 0 {
			return
		}
	}
	n.samples = append(n.samples, us)
}

// Took is what the run that was watched took.
func (t *Tally) Took() Expected {
	e := Expected{US: map[string]int64{}, Times: map[string]int{}}
	for name, n := range t.nodes { // any order: it makes maps
		if len(n.samples) > 0 {
			e.US[name] = median(append([]int64(nil), n.samples...))
		}
		if n.ends != 1 {
			e.Times[name] = n.ends
		}
	}
	return e
}

package machine

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// The host sends the run each event whose name the workflow waits for. The machine keeps them, because a wait takes the oldest event
// since the run began, also one that came before the wait. A wait takes an event at most once over its iterations; other waits see
// the event, too.

// MaxHeard is how many events of a name a run keeps. An event that a wait has taken makes room for one that none has.
const MaxHeard = 1000

// heardEvent is an event that the host has sent.
type heardEvent struct {
	id   string
	data value.Value
	// takenBy holds the waits that have taken the event, by their paths without iterations. A wait that the data does not fit counts.
	takenBy map[string]bool
}

// heard is all that the run knows of the events of a name.
type heard struct {
	events  []*heardEvent // in the order of coming
	waits   []ref         // nodes that wait, in the order of their starts; one that has ended has no frame
	ended   int           // how many of those have ended
	dropped int           // events that no wait has taken and that the run does not keep any more
	told    int           // how many of those a node has warned of
}

// hearEvent keeps an event and offers it to the nodes that wait for it. An event of a name that the workflow does not wait for
// changes nothing.
func (m *Machine) hearEvent(x *event.External) {
	o, _ := x.Data.(map[string]any)
	name, _ := o["name"].(string)
	if _, waited := slices.BinarySearch(m.graph.Events(), name); !waited {
		return
	}
	h := m.heard[name]
	if h == nil {
		h = m.listen(name)
	}
	e := &heardEvent{data: o["data"]}
	e.id, _ = o["id"].(string)
	if n, _ := o["dropped"].(float64); n > 0 {
		h.dropped += int(n)
	}
	if h.events = append(h.events, e); len(h.events) > MaxHeard {
		at := slices.IndexFunc(h.events, func(e *heardEvent) bool { return len(e.takenBy) > 0 })
		if at < 0 {
			at = 0
			h.dropped++
		}
		h.events = slices.Delete(h.events, at, at+1)
	}
	if waits := h.living(); len(waits) > 0 {
		m.tellDropped(waits[0], name, h)
		m.agenda.push(task{do: doOffer, heard: e, waits: waits})
	}
}

// listen makes the entry of a name.
func (m *Machine) listen(name string) *heard {
	if m.heard == nil {
		m.heard = map[string]*heard{}
	}
	h := &heard{}
	m.heard[name] = h
	return h
}

// living lists the nodes that wait.
func (h *heard) living() (list []ref) {
	for _, r := range h.waits {
		if r.frame != nil {
			list = append(list, r)
		}
	}
	return list
}

// offerEvent offers an event to the next of the nodes that waited for it when it came.
func (m *Machine) offerEvent(t task) {
	r := t.waits[t.cursor]
	if t.cursor++; t.cursor < len(t.waits) {
		m.agenda.push(t)
	}
	if s := m.state(r); s.status == event.Waiting && s.cold != nil && s.cold.waits != nil {
		m.takeEventIfFits(r, t.heard)
	}
}

// eventWait is the wait of a node for an event.
type eventWait struct {
	place int        // in heard.waits
	taker string     // the path of the node without iterations
	since event.Time // when it began
}

// startEventWait has a node wait for an event, or take one that has come before.
func (m *Machine) startEventWait(r ref, w *ir.Wait) {
	d := m.liveState(r)
	d.attempts++
	var until event.Time
	if w.Timeout != nil {
		var err error
		if until, err = m.evalDue(w.Timeout, m.newScope(r)); err != nil {
			m.failPause(r, compose.EvaluationError("timeout", err))
			return
		}
	}
	h := m.heard[w.Event]
	if h == nil {
		h = m.listen(w.Event)
	}
	m.coldState(r).waits = &eventWait{place: len(h.waits), taker: m.pathWithoutIterations(r), since: m.now}
	h.waits = append(h.waits, r)
	n, from := m.node(r), m.state(r).status
	m.startParents(r)
	m.noteCompensation(r)
	m.state(r).status = event.Waiting
	if d.started == 0 {
		d.started = m.now
	}
	m.showTransition(event.Transition{Node: d.path, From: from, To: event.Waiting, Attempt: d.attempts, Reason: fmt.Sprintf("for the event %q", w.Event),
		Name: n.Name, Kind: string(n.Kind), WaitsFor: &event.WaitsFor{Kind: event.WaitEvent, Name: w.Event, Until: until}})
	m.tellDropped(r, w.Event, h)
	for _, e := range h.events {
		if m.takeEventIfFits(r, e) {
			return
		}
	}
	if until != 0 {
		m.setTimer(r, until, event.TimerWait)
	}
}

// takeEventIfFits ends a wait with an event, if the wait has not taken the event before, the data is of the wait's type, and the
// condition of the wait holds.
func (m *Machine) takeEventIfFits(r ref, e *heardEvent) bool {
	w, d := m.node(r).Action.(*ir.Wait), m.liveState(r)
	taker := d.cold.waits.taker
	if e.takenBy[taker] {
		return false
	}
	data := e.data
	if w.Data != nil {
		var err error
		if data, err = value.Convert(data, *w.Data); err != nil {
			m.showNote(r, event.Warned, fmt.Sprintf("the event %s %q is left out, because its data is not of the declared type: %v", e.id, w.Event, err), nil)
			e.take(taker)
			return false
		}
	}
	if w.Match != nil {
		sc := m.newScope(r)
		sc.Mode, sc.More = compose.InMatch, data
		fits, err := m.composer.Condition(w.Match, sc)
		if err != nil {
			m.showNote(r, event.Warned, fmt.Sprintf("match cannot be computed for the event %s %q: %v", e.id, w.Event, err), nil)
		}
		if !fits || err != nil {
			return false
		}
	}
	e.take(taker)
	m.leaveEvents(r)
	m.cancelWorkTimer(d)
	d.output = data
	m.deliverOutput(r)
	return true
}

func (e *heardEvent) take(taker string) {
	if e.takenBy == nil {
		e.takenBy = map[string]bool{}
	}
	e.takenBy[taker] = true
}

// expireEventWait fails a wait for an event that did not come in time.
func (m *Machine) expireEventWait(r ref, t timer) {
	w, since := m.node(r).Action.(*ir.Wait), m.liveState(r).cold.waits.since
	m.leaveEvents(r)
	m.failPause(r, &event.Error{Kind: event.Transient, Reason: event.ReasonTimeout, ExitCode: -1,
		Message: fmt.Sprintf("the event %q did not come within %s", w.Event, t.elapsedSince(since))})
}

// leaveEvents ends the wait of a node for an event, if it waits for one.
func (m *Machine) leaveEvents(r ref) {
	d := m.liveState(r)
	if d.cold == nil || d.cold.waits == nil {
		return
	}
	h := m.heard[m.node(r).Action.(*ir.Wait).Event]
	h.waits[d.cold.waits.place] = ref{}
	d.cold.waits = nil
	if h.ended++; h.ended < 32 || h.ended*2 < len(h.waits) {
		return
	}
	h.waits, h.ended = h.living(), 0
	for i, r := range h.waits {
		m.liveState(r).cold.waits.place = i
	}
}

// isListening reports whether a node waits for an event.
func (m *Machine) isListening() bool {
	for _, h := range m.heard { // any order: one is enough
		if len(h.waits) > h.ended {
			return true
		}
	}
	return false
}

// tellDropped has a node warn of events that the run does not keep any more.
func (m *Machine) tellDropped(r ref, name string, h *heard) {
	if h.dropped > h.told {
		m.showNote(r, event.Warned, fmt.Sprintf("%d events %q that nothing took were dropped, the oldest: a run keeps %d of a name", h.dropped-h.told, name, MaxHeard), nil)
		h.told = h.dropped
	}
}

// pathWithoutIterations is what a node and its iterations have in common.
func (m *Machine) pathWithoutIterations(r ref) string {
	if r.node == plan.None {
		return ""
	}
	up := m.pathWithoutIterations(m.parent(r))
	switch {
	case m.isIteration(r):
		return up
	case m.isInstance(r):
		return up + "[" + quoteKey(r.frame.key) + "]"
	}
	return up + "/" + m.node(r).Name
}

// Package machine is flowrun's heart: a run as a pure state machine.
//
// [Machine.Step] takes an event, [Machine.Advance] works off what it set free and says what must happen in the world
// (commands) and what can be seen (transitions). Nothing else goes in or comes out: no clock, no randomness, no
// goroutine, no lock, no I/O; the time is the event's, the dice are seeded by the run's id, expressions are computed by
// a pure evaluator. So the list of events is the run, and feeding it again gives every byte again.
//
// How it is built: the graph (runner/plan) is immutable; a [frame] is one activation of a region of it and holds a slice
// of states by slot; an agenda holds what is to be done next, in order, a constant amount of work an entry. A node goes
// through the same few doors whatever it is: ready (rule, condition) → start (slots, attempt) → finished → judged (gates) →
// finish (dependents, parent). A run comes to its end through phases of its own: its nodes, compensations, finally (end.go);
// what a cancel, a timeout or an end step stops, it stops through one door (stop.go). No entry ever waits for the world, so a
// slice can end between any two.
//
// What an expression reads is answered by scope.go; what an attempt is given is computed by request.go, but for secrets
// (late.go). Package runner/slots decides who has a slot (slots.go); what a run that repeats another one
// need not do again, by reuse.go.
//
// It imports the IR, values, events, plan, policy, request and slots, and must never import a host, an executor, os, sync, or
// a clock.
package machine

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/slots"
)

// Bounds of a run.
const (
	// DefaultConcurrency is how many attempts are live at once where the workflow says nothing.
	DefaultConcurrency = 8
	// MaxConcurrency bounds what a file may ask for.
	MaxConcurrency = 10_000
	// MaxInstances bounds one for_each.
	MaxInstances = 200_000
	// MaxStream bounds what a result keeps of stdout and stderr each, in bytes.
	MaxStream = 64 << 10
	// LastYear is the last one that a step can wait for.
	LastYear = 2200
	// DefaultDeathLimit is how many drivers may die in a row over the same attempts.
	DefaultDeathLimit = 3
	// MaxSilences is how often in a row an attempt may fall silent before it has failed: an agent that always hangs must not be
	// asked for ever.
	MaxSilences = 3
)

// Machine is one run. It is not safe for concurrent use. Make it with New.
type Machine struct {
	graph *plan.Graph
	eval  ir.Evaluator
	// behaviour has the changes of meaning that hold for the run: code with an old and a new meaning asks it.
	behaviour ir.Rules

	run      *event.RunStarted
	now      event.Time
	started  event.Time
	closedAt event.Time // when finally began
	root     *frame
	agenda   agenda
	out      *event.Reaction
	slots    *slotQueue
	parallel int  // how many slots the run has
	ordered  bool // see needsOrder
	agents   map[string]*slotLimiter
	locals   map[string]localValue
	tickets  uint64
	live     liveList
	timers   map[uint64]timer
	refused  map[uint64]ref // nodes whose attempts were refused and that wait, by ticket
	timerSeq uint64
	runTimer uint64 // of the run's own timeout, or 0
	queueSeq uint64
	left     []int64 // by node: the expected way from its start to the end of the run, in microseconds; nil: nobody knows
	deaths   int

	phase     phase
	remaining int      // top-level nodes of this phase that have not ended
	detached  int      // nodes that have not ended though what they lay in has: the phase waits for them, too
	strays    []ref    // what these lay in
	lost      []string // top-level nodes of this phase that ended badly
	failures  uint64   // so far
	bad       cause    // the first that counts
	stopping  *phaseStop
	final     *verdict // from the end of the first phase on
	cancels   int      // wishes to cancel so far
	abandoned bool     // by a second one: nothing is waited for any more
	toUndo    []ref    // nodes with compensations that made an attempt, in the order of their first
	wanted    []bool   // by node: it runs although only Targets were asked for; nil: everything does

	failedSeen   []any // run.failed as far as an expression has read it
	instanceSeen instanceLists
}

// New makes the machine of a graph. The evaluator must be pure. rules are those of the run's behaviour number, for the machine's own
// meanings; the evaluator has the same.
func New(g *plan.Graph, eval ir.Evaluator, rules ir.Rules) *Machine {
	return &Machine{
		graph: g, eval: eval, behaviour: rules, slots: slots.NewQueue[slotRequest](), ordered: needsOrder(g),
		agents: map[string]*slotLimiter{}, locals: map[string]localValue{},
		live: liveList{by: map[uint64]*attempt{}, children: map[string]*attempt{}}, timers: map[uint64]timer{},
	}
}

// Step takes the next event of the run. It only notes it; Advance does the work. An error means that the event cannot
// belong to this run: the machine is then unusable and the journal is as it was.
func (m *Machine) Step(ev event.Event) error {
	if (ev.RunStarted != nil) != (m.run == nil) {
		return fmt.Errorf("machine: event %d is %s: run_started comes first, and once", ev.Seq, ev.Kind())
	}
	if a := ev.AttemptFinished; a != nil && a.Ticket > m.tickets {
		return fmt.Errorf("machine: event %d answers attempt %d, which was never started", ev.Seq, a.Ticket)
	}
	if t := ev.TimerFired; t != nil && t.Timer > m.timerSeq {
		return fmt.Errorf("machine: event %d is timer %d, which was never set", ev.Seq, t.Timer)
	}
	if x := ev.External; x != nil && x.Kind != event.ExternalCancel && x.Kind != event.ExternalGranted {
		return fmt.Errorf("machine: event %d is a message of kind %q, which this release does not know", ev.Seq, x.Kind)
	}
	if err := m.unknownWord(&ev); err != nil {
		return fmt.Errorf("machine: event %d: %w", ev.Seq, err)
	}
	if ev.Kind() == "nothing" {
		return fmt.Errorf("machine: event %d is empty or of a kind that this release does not know", ev.Seq)
	}
	if ev.RunStarted != nil {
		if err := checkActions(m.graph); err != nil {
			return err
		}
		m.run = ev.RunStarted
	}
	m.agenda.push(task{do: doEvent, event: &ev})
	return nil
}

// unknownWord returns an error if the event holds, or is about, a word that this release does not know.
func (m *Machine) unknownWord(ev *event.Event) error {
	switch {
	case ev.AttemptFinished != nil:
		if f := ev.AttemptFinished; !slices.Contains(event.Outcomes, f.Outcome) {
			return fmt.Errorf("unknown outcome %.60q", f.Outcome)
		}
		return ev.AttemptFinished.Error.Known()
	case ev.ChildFinished != nil:
		return ev.ChildFinished.Error.Known()
	case ev.TimerFired != nil:
		if t, ok := m.timers[ev.TimerFired.Timer]; ok && !slices.Contains(event.TimerPurposes, t.purpose) {
			return fmt.Errorf("timer %d has the unknown purpose %.60q", ev.TimerFired.Timer, t.purpose)
		}
	}
	return nil
}

// Advance does at most budget entries of the agenda and appends what follows to out.
func (m *Machine) Advance(budget int, out *event.Reaction) (more bool) {
	m.out = out
	for ; budget > 0; budget-- {
		if !m.agenda.empty() {
			m.doTask(m.agenda.pop())
		} else if !m.startNext() {
			break
		}
	}
	m.out = nil
	if !m.agenda.empty() || m.slots.More() {
		return true
	}
	assert(m.run == nil || m.phase == over || m.live.first != nil || len(m.timers) > 0 || len(m.refused) > 0, "the run has not ended and waits for nothing")
	return false
}

// doTask is the table of all that can be on the agenda.
func (m *Machine) doTask(t task) {
	switch t.do {
	case doEvent:
		m.takeEvent(t.event)
	case doRelease:
		m.releaseChild(t)
	case doSpawn:
		m.makeInstance(t)
	case doIterate:
		m.makeIteration(t.ref)
	case doReady:
		m.startNode(t.ref)
	case doStartParked:
		m.startParked()
	case doCollect:
		m.endGroup(t.ref)
	case doEndUnreleased:
		m.endUnreleased(t)
	case doCancel:
		m.cancelSubtree(t)
	case doCancelChildren:
		m.cancelChildren(t)
	case doEnd:
		m.endPhase(t)
	case doFinally:
		m.noteDependency(t.ref, released)
	}
}

func (m *Machine) takeEvent(ev *event.Event) {
	m.now = ev.At
	if m.phase == over {
		return // late answers and second thoughts are recorded, and change nothing
	}
	if d := ev.DriverChanged; d == nil {
		m.deaths = 0
	} else {
		m.driverChanged(d)
		return
	}
	switch {
	case ev.RunStarted != nil:
		m.startRun()
	case ev.AttemptFinished != nil:
		m.attemptFinished(ev.AttemptFinished)
	case ev.TimerFired != nil:
		m.timerFired(ev.TimerFired)
	case ev.ChildFinished != nil:
		m.childFinished(ev.ChildFinished)
	case ev.External != nil && ev.External.Kind == event.ExternalGranted:
		m.grantAttempt(ev.External)
	case ev.External != nil: // a cancel: Step lets no other kind in
		m.cancelRun(ev.External)
	}
}

// showTransition makes a transition visible.
func (m *Machine) showTransition(t event.Transition) {
	t.At = m.now
	m.out.Transitions = append(m.out.Transitions, t)
}

func (m *Machine) addCommand(c event.Command) { m.out.Commands = append(m.out.Commands, c) }

// Package machine is flowrun's heart: a run as a pure state machine.
//
// [Machine.Step] takes an event. [Machine.Advance] does the tasks that follow and returns commands
// to the host and visible transitions. Nothing else goes in or comes out: no clock, no randomness,
// no goroutine, no lock, no I/O; the time is the event's, the dice are seeded by the run's id,
// expressions are computed by a pure evaluator. So the list of events is the run, and feeding it
// again gives every byte again.
//
// How it is built: the graph (runner/plan) is immutable; a [frame] is one activation of a region
// of it and holds a slice of states by slot; an agenda holds the next tasks in order, each a
// constant amount of work. Every node takes the same path: startNode (rule, condition) →
// startAttempt (slots) → attemptFinished → runGates → finishNode (dependents, parent). A run ends
// in phases: its nodes, compensations, finally. No task waits for the host, so a slice can end
// after any task.
//
// Files, in the order of a node's life: state.go has frames and states. start.go starts the run and
// its nodes, checks trigger rules, and ends nodes as in an earlier run. group.go opens groups,
// for_each and repeat; join.go decides joins. slots.go orders the start of attempts with package
// runner/slots, and waits for the host's admission; hold.go takes what groups, calls and the run hold of quotas. pool.go chooses
// members of pools. attempt.go starts attempts and called runs,
// takes their answers, and repeats them for another driver. retry.go retries, or falls back to
// another agent. finish.go runs gates and ends nodes. timer.go has timers and deadlines, event.go waits for events, ask.go for people, sync.go for the
// parties of a sync point. stop.go
// cancels; a timeout and an end step use the same stopPhase. cancel.go cancels one node. budget.go bounds what attempts use,
// adapt.go asks the rules that change how many attempts are live. end.go ends phases and the run, and
// runs compensations. Package runner/compose computes attempts and evaluates expressions; read.go
// gives it the values that expressions read; long.go keeps long results as references.
//
// It imports the IR, values, events, plan, policy, request, compose, slots, and diag for the nearest
// name. It must never import a host, an executor, os, sync, or a clock.
package machine

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/slots"
)

// Bounds of a run.
const (
	// LastYear is the last year that a step can wait for.
	LastYear = 2200
	// DefaultDeathLimit is how many drivers may die in a row over the same attempts.
	DefaultDeathLimit = 3
	// MaxLimited is how many answers in a row may say when to come back before the next one fails the
	// attempt.
	MaxLimited = 100
)

// Machine is one run. It is not safe for concurrent use. Make it with New.
type Machine struct {
	graph *plan.Graph
	eval  ir.Evaluator
	// behaviour has the changes of meaning that hold for the run: code with an old and a new
	// meaning asks it.
	behaviour ir.Rules

	run      *event.RunStarted
	composer *compose.Composer // of the run, once it has started
	now      event.Time
	started  event.Time
	closedAt event.Time // when finally began
	root     *frame
	usage    event.Usage // of the run, with the runs that it called
	agenda   agenda
	out      *event.Reaction
	slots    *slotQueue
	kv       *slotQueue // of the kv operations, which need no other slots
	parallel int        // how many slots the run has
	ordered  bool       // see needsOrder
	adapts   bool       // the workflow or a group has rules of adapt
	agents   map[string]*slotLimiter
	pools    pools
	tickets  uint64
	live     liveList
	timers   map[uint64]timer
	granted  []ref                     // nodes that ask again, until the reaction is complete: see returnGrants
	needs    map[event.Need]event.Need // of what runs share, by kind and name: see sharedNeed
	hold     *hold                     // of the run; nil if it holds nothing of quotas
	holds    map[uint64]*hold          // of the run, its groups and calls, by the ticket that asked last
	notices  map[uint64]*notice        // messages that are being sent, by ticket
	unsent   bool                      // all is done but for the messages
	refused  map[uint64]ref            // nodes that wait for admission, by the ticket of the refused attempt
	meeting  map[uint64]ref            // nodes that wait at sync points, by the ticket of the refused attempt
	heard    map[string]*heard         // events, by name
	asks     map[uint64]*asking        // what waits for people, by the numbers of the asks
	askSeq   uint64
	timerSeq uint64
	runTimer uint64 // of the run's own timeout, or 0
	queueSeq uint64
	left     []int64 // by node: expected microseconds from its start to the end of the run; nil: unknown
	deaths   int

	phase     phase
	remaining int      // top-level nodes of this phase that have not ended
	detached  int      // running nodes with an ended parent; the phase waits for them too
	strays    []ref    // the parents of detached nodes
	lost      []string // top-level nodes of this phase that ended badly
	failures  uint64   // so far
	bad       cause    // the first that counts
	stopping  *phaseStop
	final     *verdict // from the end of the first phase on
	cancels   int      // number of cancels so far
	abandoned bool     // a second cancel: the run waits for no attempt
	toUndo    []ref    // nodes with compensations that made an attempt, in the order of their first
	wanted    []bool   // by node: it runs although only Targets were asked for; nil: everything does

	failedSeen   []any // run.failed as far as an expression has read it
	instanceSeen instanceLists
	read         readBack
	from         *source // where the artifacts of a restored machine lie
	broken       error   // a part of a result cannot be read

	runBudgets
	adaptations
}

// New makes the machine of a graph. The evaluator must be pure. rules are those of the run's
// behaviour number, for the machine's own meanings; the evaluator has the same.
func New(g *plan.Graph, eval ir.Evaluator, rules ir.Rules) *Machine {
	return &Machine{
		graph: g, eval: eval, behaviour: rules, slots: slots.NewQueue[slotRequest](), kv: newKVQueue(rules), ordered: needsOrder(g), adapts: g.Adapts(),
		agents: map[string]*slotLimiter{}, pools: newPools(g),
		live: liveList{by: map[uint64]*attempt{}, children: map[string]*attempt{}}, timers: map[uint64]timer{},
	}
}

// Step takes the next event of the run. It only notes it; Advance does the work. An error means
// that the event cannot belong to this run: the machine is then unusable and the journal is as it
// was.
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
	if x := ev.External; x != nil && x.Kind != event.ExternalCancel && x.Kind != event.ExternalCancelNode && x.Kind != event.ExternalGranted && x.Kind != event.ExternalEvent && x.Kind != event.ExternalMetrics && x.Kind != event.ExternalDecision && x.Kind != event.ExternalSession {
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
		m.run, m.composer = ev.RunStarted, compose.New(m.graph, m.eval, ev.RunStarted)
	}
	m.agenda.push(task{do: doEvent, event: &ev})
	return nil
}

// unknownWord returns an error if the event holds, or is about, a word that this release does not
// know.
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

// SetPause lets the machine call pause in the middle of a task that takes long, if its evaluator can. If pause panics, the machine is unusable.
func (m *Machine) SetPause(pause func()) {
	if ev, can := m.eval.(interface{ SetPause(pause func()) }); can {
		ev.SetPause(pause)
	}
}

// Advance does at most budget tasks of the agenda and appends the reactions to out.
func (m *Machine) Advance(budget int, out *event.Reaction) (more bool) {
	m.out = out
	for ; budget > 0; budget-- {
		if !m.agenda.empty() {
			m.doTask(m.agenda.pop())
		} else if !m.startNext() {
			m.returnGrants()
			break
		}
	}
	m.out = nil
	if !m.agenda.empty() || m.slots.More() || len(m.granted) > 0 {
		return true
	}
	assert(m.run == nil || m.phase == over || m.live.first != nil || len(m.timers) > 0 || len(m.refused)+len(m.holds)+len(m.meeting)+len(m.notices)+len(m.asks) > 0 || m.isListening(), "the run has not ended and waits for nothing")
	return false
}

// doTask does one task of the agenda.
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
	case doOffer:
		m.offerEvent(t)
	case doRoom:
		m.askRoomAgain(t.ref, t.cursor)
	case doAdapt:
		m.askAdaptRules()
	}
}

func (m *Machine) takeEvent(ev *event.Event) {
	m.now = ev.At
	if m.phase == over {
		return // the journal records late events, which change nothing
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
	case ev.External != nil && ev.External.Kind == event.ExternalEvent:
		m.hearEvent(ev.External)
	case ev.External != nil && ev.External.Kind == event.ExternalMetrics:
		m.takeFigures(ev.External)
	case ev.External != nil && ev.External.Kind == event.ExternalDecision:
		m.takeDecision(ev.External)
	case ev.External != nil && ev.External.Kind == event.ExternalSession:
		m.keepSession(ev.External)
	case ev.External != nil && ev.External.Kind == event.ExternalCancelNode:
		m.cancelNode(ev.External)
	case ev.External != nil: // a cancel: Step refuses other kinds
		m.cancelRun(ev.External)
	}
}

// showTransition adds a transition to the reaction.
func (m *Machine) showTransition(t event.Transition) {
	t.At = m.now
	m.out.Transitions = push(m.out.Transitions, t)
}

func (m *Machine) addCommand(c event.Command) { m.out.Commands = push(m.out.Commands, c) }

// push is append that doubles a list which is full: append copies a long list more often.
func push[T any](list []T, t T) []T {
	if len(list) == cap(list) {
		list = slices.Grow(list, len(list)+1)
	}
	return append(list, t)
}

// taskKind is the kind of a task.
type taskKind uint8

const (
	doEvent          taskKind = iota // take an event in
	doRelease                        // release the children of a group or of the run, one per task
	doSpawn                          // make the instances of a for_each, one per task
	doIterate                        // make the next iteration of a repeat
	doReady                          // all dependencies of a node have ended
	doStartParked                    // the run has free slots again, and attempts are parked
	doCollect                        // all children of a group, or instances, have ended
	doEndUnreleased                  // end the children of a group that ended before their release, one per task
	doCancel                         // end a node because its run or group ends
	doCancelChildren                 // end the children of such a node, one per task
	doEnd                            // the last top-level node of a phase has ended
	doFinally                        // the next node of finally may run
	doOffer                          // offer an event to the nodes that wait for it, one per task
	doRoom                           // a start that waits for room in a budget asks again
	doAdapt                          // ask the rules of adapt
)

// task is an entry of the agenda.
type task struct {
	do     taskKind
	hard   bool // a cancel also ends nodes that run "always"
	ref    ref
	cursor int
	event  *event.Event
	heard  *heardEvent // of doOffer
	waits  []ref       // of doOffer
	status event.Status
	reason string
}

// agenda is a queue. Its order is part of the machine's behaviour.
type agenda struct {
	tasks []task
	head  int
}

func (a *agenda) push(t task) { a.tasks = append(a.tasks, t) }

func (a *agenda) empty() bool { return a.head == len(a.tasks) }

func (a *agenda) pop() task {
	t := a.tasks[a.head]
	a.tasks[a.head] = task{}
	a.head++
	if a.head == len(a.tasks) {
		a.tasks, a.head = a.tasks[:0], 0
	} else if a.head >= 1024 && a.head*2 >= len(a.tasks) {
		n := copy(a.tasks, a.tasks[a.head:])
		clear(a.tasks[n:])
		a.tasks, a.head = a.tasks[:n], 0
	}
	return t
}

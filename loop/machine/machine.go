// Package machine is a loop as a pure state machine: the machine of a run whose first event says that it is of a loop.
//
// It takes the events and gives the commands of every run, so that hosts, journals, replays and simulations treat it like the machine of
// a workflow. A source is asked by an attempt, what the store shares by a store attempt, an item's work is a called run, leases and pauses
// are timers, and what comes from outside is an external.
//
// How an item goes: look.go climbs the ladder: it asks one source after the other, as long as an agent has a free place, and chooses by
// package loop. work.go takes the item that was chosen: its claim, a look whether the source still has it, its run, another look, the report
// to the source, the end of the claim. control.go has what people want of the loop, limits, and the end of the run.
//
// What always holds: an item has one work here at most, and a run starts under a claim that was won. The same events give the same commands,
// byte for byte. The package imports the IR, values, events, plan, compose and loop, and must never import a host or a clock.
package machine

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// Machine is one run of a loop. It is not safe for concurrent use. Make it with New.
type Machine struct {
	graph    *plan.Graph
	loop     *ir.Loop
	eval     ir.Evaluator
	rules    ir.Rules
	composer *compose.Composer
	run      *event.RunStarted
	noted    []event.Event
	now      event.Time
	started  event.Time
	behind   time.Duration // how far the clock of the store is behind now, by its last answer: it was set back. now goes on meanwhile
	asked    event.Time    // when the attempt was asked for whose answer is taken now
	out      *event.Reaction

	lease, heartbeat, idle, idleMax time.Duration
	limits                          limits
	targets                         targets
	shut                            shut

	tickets, timerSeq uint64
	asks              map[uint64]*ask
	timers            map[uint64]event.TimerPurpose
	wake, beat        timer // of TimerIdle and TimerHeartbeat
	agents            []*agent
	sources           []*source
	work              []*work // in the order in which they were chosen
	barred            map[string]bar
	lies              map[string]int // how often an item that was listed as open was not
	control           event.LoopControl
	heard             bool // control is known
	round             int  // the source that is asked; none: no round is under way
	again             bool // another round follows
	rounds            int
	turns             int // improvements that were begun
	improved          event.Time
	warned            map[string]bool
	events            int // of this run
	usage             event.Usage
	counts            counts
	draining          string // why nothing is taken any more, in words
	final             *event.End
	cancels           int
	over              bool
}

// none is not a round.
const none = -1

// counts are of this run.
type counts struct{ Taken, Closed, Failed, Released, Dead int }

// timer is a timer that is set; the zero value is none.
type timer struct {
	number uint64
	due    event.Time
}

// agent is one who does items.
type agent struct {
	*ir.Agent
	places  int
	busy    int
	stopped string // why it takes nothing any more, in words
}

// askKind says what an attempt asks.
type askKind uint8

const (
	askControl askKind = iota // to be woken, and how the loop is to behave
	askList                   // the items of a source
	askWork                   // something about an item; the work says what
	askRenew                  // the lease of a claim
	askPark                   // that a claim stays without a lease
	askNotice                 // a message
	askWatch                  // that a source says when its items have changed
)

// ask is an attempt that is not answered.
type ask struct {
	kind    askKind
	request *event.Attempt
	asked   event.Time
	source  *source
	work    *work
}

// New makes the machine of a loop, of which g is the graph. The evaluator must be pure.
func New(g *plan.Graph, loop *ir.Loop, eval ir.Evaluator, rules ir.Rules) *Machine {
	return &Machine{graph: g, loop: loop, eval: eval, rules: rules, asks: map[uint64]*ask{}, timers: map[uint64]event.TimerPurpose{}, barred: map[string]bar{}, lies: map[string]int{}, warned: map[string]bool{}, round: none}
}

// Names resolves the names that expressions of the loop can read beside items: for views of a replayed run.
func (m *Machine) Names() ir.Scope { return m.composer.Constants() }

// Step takes the next event of the run; Advance does the work. An error means that the event cannot belong to this run.
func (m *Machine) Step(ev event.Event) error {
	if (ev.RunStarted != nil) != (m.run == nil) {
		return fmt.Errorf("loop: event %d is %s: run_started comes first, and once", ev.Seq, ev.Kind())
	}
	switch a, t, x := ev.AttemptFinished, ev.TimerFired, ev.External; {
	case a != nil && a.Ticket > m.tickets:
		return fmt.Errorf("loop: event %d answers attempt %d, which was never started", ev.Seq, a.Ticket)
	case a != nil && !slices.Contains(event.Outcomes, a.Outcome):
		return fmt.Errorf("loop: event %d: unknown outcome %.60q", ev.Seq, a.Outcome)
	case a != nil:
		if err := a.Error.Known(); err != nil {
			return fmt.Errorf("loop: event %d: %w", ev.Seq, err)
		}
	case ev.ChildFinished != nil:
		if err := ev.ChildFinished.Error.Known(); err != nil {
			return fmt.Errorf("loop: event %d: %w", ev.Seq, err)
		}
	case t != nil && t.Timer > m.timerSeq:
		return fmt.Errorf("loop: event %d is timer %d, which was never set", ev.Seq, t.Timer)
	case x != nil && x.Kind != event.ExternalCancel && x.Kind != event.ExternalCancelNode && x.Kind != event.ExternalWake && x.Kind != event.ExternalGranted:
		return fmt.Errorf("loop: event %d is a message of kind %q, which a loop does not know", ev.Seq, x.Kind)
	case ev.Kind() == "nothing":
		return fmt.Errorf("loop: event %d is empty or of a kind that this release does not know", ev.Seq)
	}
	if ev.RunStarted != nil {
		m.run, m.composer = ev.RunStarted, compose.New(m.graph, m.eval, ev.RunStarted)
		if m.run.Loop == nil { // the event keeps its own
			run := *m.run
			run.Loop = &event.LoopStart{}
			m.run = &run
		}
	}
	m.noted = append(m.noted, ev)
	return nil
}

// Advance does the work of at most budget events, and appends the reaction to out.
func (m *Machine) Advance(budget int, out *event.Reaction) (more bool) {
	m.out = out
	for ; budget > 0 && len(m.noted) > 0; budget-- {
		ev := m.noted[0]
		m.noted = m.noted[1:]
		m.take(&ev)
	}
	m.out = nil
	return len(m.noted) > 0
}

// take does the work of one event.
func (m *Machine) take(ev *event.Event) {
	m.now = ev.At
	m.events++
	m.targets.pass(m.now, m.busyAgents())
	if m.over {
		return // the journal records late events, which change nothing
	}
	switch {
	case ev.RunStarted != nil:
		m.begin()
	case ev.AttemptFinished != nil:
		m.answered(ev.AttemptFinished)
	case ev.TimerFired != nil:
		m.fired(ev.TimerFired.Timer)
	case ev.ChildFinished != nil:
		m.runEnded(ev.ChildFinished)
	case ev.DriverChanged != nil:
		m.driverChanged(ev.DriverChanged.Kept)
	case ev.External.Kind == event.ExternalCancel:
		m.cancel(ev.External.Reason)
	case ev.External.Kind == event.ExternalWake:
		m.woken(ev.External)
	}
	if !m.over {
		m.settle()
	}
}

// begin computes the settings, and asks how the loop is to behave.
func (m *Machine) begin() {
	m.started = m.now
	m.show(event.Transition{To: event.Running})
	if reason := m.run.Cancelled; reason != "" {
		m.end(&event.End{Status: event.Cancelled, Limit: true, Error: failure(event.Fatal, event.ReasonCancelled, reason)})
		return
	}
	if err := m.settings(); err != nil {
		m.end(&event.End{Status: event.FailedS, Error: compose.EvaluationError("the settings of the loop", err)})
		return
	}
	m.adopt()
	m.askStore(&ask{kind: askControl}, "loop", &event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopListen, Loop: m.loop.Name}})
}

// settings computes what is fixed for the whole run.
func (m *Machine) settings() (err error) {
	here := m.composer.Constants()
	for _, s := range []struct {
		to        *time.Duration
		e         *ir.Expr
		otherwise time.Duration
	}{{&m.lease, m.loop.Lease, ir.DefaultLease}, {&m.heartbeat, m.loop.Heartbeat, ir.DefaultHeartbeat}, {&m.idle, m.loop.Idle, ir.DefaultIdle}, {&m.idleMax, m.loop.IdleMax, ir.DefaultIdleMax}} {
		if *s.to = s.otherwise; s.e != nil && err == nil {
			*s.to, err = m.composer.Duration(s.e, here)
		}
	}
	m.heartbeat, m.idleMax = min(m.heartbeat, m.lease/3), max(m.idle, m.idleMax)
	if err == nil {
		err = m.limits.compute(m.composer, m.loop.Limits)
	}
	if err == nil {
		err = m.targets.compute(m.composer, m.loop.Target)
	}
	for _, name := range m.loop.Agents {
		a := &agent{places: 1}
		for i := range m.graph.Program.Agents {
			if g := &m.graph.Program.Agents[i]; g.Name == name {
				a.Agent = g
			}
		}
		if a.Agent == nil {
			return fmt.Errorf("there is no agent %q", name)
		}
		if a.Concurrency != nil && err == nil {
			a.places, err = m.composer.Count(a.Concurrency, here, 1, plan.MaxPlaces)
		}
		m.agents = append(m.agents, a)
	}
	for i := range m.loop.Sources {
		s := &source{Source: &m.loop.Sources[i], number: i}
		if s.Every != nil && err == nil {
			s.every, err = m.composer.Duration(s.Every, here)
		}
		if err == nil {
			a, r := event.Attempt{}, event.SourceRequest{}
			err = m.composer.Source(&a, s.Source, &r)
			s.list = event.ListName(&r, a.Late, m.run.Dir)
		}
		m.sources = append(m.sources, s)
	}
	return err
}

// answered takes the answer to an attempt.
func (m *Machine) answered(f *event.AttemptFinished) {
	a := m.asks[f.Ticket]
	if a == nil {
		return
	}
	delete(m.asks, f.Ticket)
	m.asked = a.asked
	if f.Usage != nil {
		m.usage.Add(*f.Usage)
	}
	switch a.kind {
	case askControl:
		c, err := event.LoopControlOf(f.Output)
		if m.heard = false; f.Outcome == event.OK && err == nil { // an answer ends no pause: people who end one send a message
			m.hear(c)
		}
		if m.heard = true; f.Outcome != event.OK || err != nil {
			m.warn("control", "the store does not say how the loop is to behave: "+why(f, err))
		}
		m.obey()
		m.look()
	case askList:
		m.listed(a.source, f)
	case askWatch:
		m.watched(a.source, f)
	case askWork:
		m.workAnswered(a.work, f)
	case askRenew:
		m.renewed(a.work, f)
	case askPark:
		m.parkedAnswered(a.work, f)
	case askNotice:
		if f.Outcome != event.OK {
			m.warn("", "a message could not be sent: "+why(f, nil))
		}
	}
}

// why says in words what went wrong with an attempt.
func why(f *event.AttemptFinished, err error) string {
	switch {
	case f.Error != nil:
		return f.Error.Message
	case err != nil:
		return err.Error()
	}
	return "it has not said why"
}

// start asks for an attempt.
func (m *Machine) start(a *ask, node, name string, r *event.Attempt) {
	m.tickets++
	r.Ticket, r.Node, r.Name, r.Attempt, r.Run, r.Workflow, r.Base = m.tickets, node, name, 1, m.run.Run, m.run.Workflow, m.run.Env
	r.Key = key(m.run.Run, strconv.FormatUint(m.tickets, 10))
	a.request, a.asked = r, m.now
	m.asks[m.tickets] = a
	m.do(event.Command{Start: r})
}

func (m *Machine) askStore(a *ask, node string, r *event.StoreRequest) {
	m.start(a, node, node, &event.Attempt{Kind: event.StoreAttempt, Store: r})
}

// key is the idempotency key of an attempt.
func key(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00") + "\x00loop"))
	return hex.EncodeToString(sum[:16])
}

// RunOf returns the id of the run that does an item under a claim: the same claim names the same run.
func RunOf(item string, token uint64) string {
	sum := sha256.Sum256([]byte(item + "\x00" + strconv.FormatUint(token, 10) + "\x00item"))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:8]))[:12]
}

// set sets a timer to a moment, in place of the one before; 0 takes it back.
func (m *Machine) set(t *timer, due event.Time, purpose event.TimerPurpose) {
	if t.due == due && (due == 0) == (t.number == 0) {
		return
	}
	if t.number != 0 {
		delete(m.timers, t.number)
		m.do(event.Command{CancelTimer: &event.CancelTimer{Timer: t.number}})
	}
	if *t = (timer{}); due == 0 {
		return
	}
	m.timerSeq++
	*t = timer{m.timerSeq, due}
	m.timers[m.timerSeq] = purpose
	m.do(event.Command{SetTimer: &event.SetTimer{Timer: m.timerSeq, Due: due, Purpose: purpose}})
}

// fired takes a timer whose time has come.
func (m *Machine) fired(number uint64) {
	purpose, set := m.timers[number]
	if !set {
		return
	}
	delete(m.timers, number)
	if purpose == event.TimerHeartbeat {
		m.beat = timer{}
		m.renewAll()
		return
	}
	m.wake = timer{}
	m.look()
}

// clock takes what the clock of the store showed. Times of the store go by it, and not by now, which never goes back. How long the answer was on
// its way is not known: a time of the store may come too early, and does not come too late.
func (m *Machine) clock(at event.Time) {
	if at != 0 {
		m.behind = max(0, m.asked.Sub(at))
	}
}

// driverChanged repeats what was not answered and is not kept, under the same tickets. A claim is renewed before its run goes on: it may be another's meanwhile.
func (m *Machine) driverChanged(kept []uint64) {
	for _, ticket := range slices.Sorted(maps.Keys(m.asks)) {
		if slices.Contains(kept, ticket) {
			continue
		}
		m.asks[ticket].asked = m.now
		m.do(event.Command{Start: m.asks[ticket].request})
	}
	for _, w := range m.work {
		switch {
		case w.stage != working:
		case w.parked || w.lost:
			m.do(event.Command{StartChild: w.child})
			w.recancel(m)
		default:
			w.waits = true
			m.renew(w)
		}
	}
}

func (m *Machine) do(c event.Command) { m.out.Commands = append(m.out.Commands, c) }

func (m *Machine) show(t event.Transition) {
	t.At = m.now
	m.out.Transitions = append(m.out.Transitions, t)
}

// warn shows a warning of the run. One that is about something is shown once, until calm says that it is over.
func (m *Machine) warn(about, words string) {
	if about != "" && m.warned[about] {
		return
	}
	if about != "" {
		m.warned[about] = true
	}
	m.show(event.Transition{From: event.Running, To: event.Running, Note: event.Warned, Reason: words})
}

func (m *Machine) calm(about string) { delete(m.warned, about) }

func failure(kind event.ErrorKind, reason event.Reason, message string) *event.Error {
	return &event.Error{Kind: kind, Reason: reason, Message: message, ExitCode: -1}
}

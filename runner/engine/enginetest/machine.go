package enginetest

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// machine runs a Program. One event is O(1) besides what it sets free.
type machine struct {
	run     string
	program Program
	tasks   []task
	byName  map[string]int
	ready   []int            // tasks whose turn comes when there is room
	live    map[uint64]int   // ticket to task
	timer   map[uint64]int   // timer to task
	flight  []uint64         // tickets in the order of their starts; dead ones among them
	agenda  []event.Reaction // what is still to be said, a piece each
	now     event.Time
	calls   []string        // children that have not ended, in the order of their starts
	child   map[string]int  // child to task
	refused map[uint64]int  // ticket to task, of attempts that wait for their grant
	early   map[uint64]bool // tickets of live attempts whose grants came before their refusals
	notes   map[string]any  // what messages said, by task
	counts  map[string]any  // what attempts at what runs share were answered, by task
	events  []any           // what events said that no task has taken, as objects of name and data
	listens []int           // tasks that wait for events, in the order of their beginning
	woken   int             // messages that told of a loop
	cancels int
	left    int
	bad     []string
	ticket  uint64
	timers  uint64
	dying   bool
	begun   bool
	over    bool
}

type task struct {
	missing int // of those that it comes after
	next    []int
	attempt int
	status  event.Status
	timer   uint64
	spare   bool // the spare one is asked
	stage   int  // of a task with Claim: how many of its requests were answered
	token   uint64
}

func newMachine(run string, p Program) *machine {
	m := &machine{run: run, program: p, tasks: make([]task, len(p.Tasks)), byName: map[string]int{}, live: map[uint64]int{},
		child: map[string]int{}, refused: map[uint64]int{}, early: map[uint64]bool{}, timer: map[uint64]int{}, left: len(p.Tasks)}
	for i, t := range p.Tasks {
		m.byName[t.Name] = i
		m.tasks[i].status = event.Pending
		m.tasks[i].missing = len(t.After)
		for _, a := range t.After {
			j := m.byName[a]
			m.tasks[j].next = append(m.tasks[j].next, i)
		}
	}
	return m
}

// Step takes an event.
func (m *machine) Step(ev event.Event) error {
	if m.begun == (ev.RunStarted != nil) {
		return fmt.Errorf("event %d is %s", ev.Seq, ev.Kind())
	}
	if m.over {
		return fmt.Errorf("event %d comes after the end", ev.Seq)
	}
	m.now = ev.At
	switch {
	case ev.RunStarted != nil && ev.RunStarted.Skip != "":
		m.begun, m.over = true, true
		m.move(-1, event.Skipped, ev.RunStarted.Skip)
		m.ask(event.Command{End: &event.End{Status: event.Skipped}})
	case ev.RunStarted != nil && ev.RunStarted.Cancelled != "":
		m.begun, m.over = true, true
		m.move(-1, event.Cancelled, ev.RunStarted.Cancelled)
		m.ask(event.Command{End: &event.End{Status: event.Cancelled, Limit: true}})
	case ev.RunStarted != nil:
		m.begin()
	case ev.AttemptFinished != nil:
		m.finished(ev.AttemptFinished)
	case ev.TimerFired != nil:
		m.fired(ev.TimerFired.Timer)
	case ev.External != nil && ev.External.Kind == event.ExternalCancel:
		m.cancel(ev.External.Reason)
	case ev.External != nil && ev.External.Kind == event.ExternalGranted:
		m.granted(uint64(ev.External.Data.(float64)))
	case ev.External != nil && ev.External.Kind == Note:
		m.note(ev.External)
	case ev.External != nil && ev.External.Kind == event.ExternalEvent:
		m.events = append(m.events, ev.External.Data)
		m.hear()
	case ev.External != nil && ev.External.Kind == event.ExternalWake:
		m.woken++
	case ev.External != nil:
		return fmt.Errorf("event %d is a message of kind %q", ev.Seq, ev.External.Kind)
	case ev.ChildFinished != nil:
		m.childFinished(ev.ChildFinished)
	case ev.DriverChanged != nil:
		m.again(ev.DriverChanged.Kept)
	}
	m.fill()
	m.settle()
	return nil
}

// Advance says up to budget pieces of what there is to say.
func (m *machine) Advance(budget int, out *event.Reaction) bool {
	n := min(budget, len(m.agenda))
	for _, r := range m.agenda[:n] {
		out.Commands = append(out.Commands, r.Commands...)
		out.Transitions = append(out.Transitions, r.Transitions...)
	}
	m.agenda = m.agenda[n:]
	if len(m.agenda) == 0 {
		m.agenda = nil
	}
	return len(m.agenda) > 0
}

func (m *machine) ask(c event.Command) {
	m.agenda = append(m.agenda, event.Reaction{Commands: []event.Command{c}})
}

func (m *machine) move(i int, to event.Status, reason string) {
	t := event.Transition{At: m.now, To: to, Reason: reason}
	if i >= 0 {
		t.Node, t.From, t.Attempt = m.program.Tasks[i].Name, m.tasks[i].status, m.tasks[i].attempt
		m.tasks[i].status = to
	}
	m.agenda = append(m.agenda, event.Reaction{Transitions: []event.Transition{t}})
}

func (m *machine) begin() {
	m.begun = true
	m.move(-1, event.Running, "")
	for i := range m.tasks {
		if m.tasks[i].missing == 0 {
			m.release(i)
		}
	}
}

// release sets a task free: a timer at once, an attempt when there is room.
func (m *machine) release(i int) {
	if m.program.Tasks[i].Note {
		m.move(i, event.Waiting, "")
		return
	}
	if m.program.Tasks[i].Event != "" {
		m.move(i, event.Waiting, "")
		m.listens = append(m.listens, i)
		m.hear()
		return
	}
	if w := m.program.Tasks[i].Wait; w > 0 {
		m.set(i, w, event.TimerWait)
		m.move(i, event.Waiting, "")
		return
	}
	m.ready = append(m.ready, i)
}

func (m *machine) set(i int, d time.Duration, purpose event.TimerPurpose) {
	m.timers++
	m.timer[m.timers] = i
	m.tasks[i].timer = m.timers
	m.ask(event.Command{SetTimer: &event.SetTimer{Timer: m.timers, Node: m.program.Tasks[i].Name, Due: m.now.Add(d), Purpose: purpose}})
}

// fill starts what is ready while there is room.
func (m *machine) fill() {
	for len(m.ready) > 0 && !m.dying && (m.program.Parallel == 0 || len(m.live) < m.program.Parallel) {
		i := m.ready[0]
		m.ready = m.ready[1:]
		m.tasks[i].attempt++
		if m.program.Tasks[i].Call != "" {
			m.call(i)
		} else {
			m.start(i)
		}
		m.move(i, event.Running, "")
	}
}

func (m *machine) start(i int) {
	m.ticket++
	m.live[m.ticket] = i
	m.flight = append(m.flight, m.ticket)
	t := m.program.Tasks[i]
	key := m.run + "/" + t.Name
	if m.program.Twist {
		key += " twisted"
	}
	a := &event.Attempt{Ticket: m.ticket, Node: t.Name, Name: t.Name, Attempt: m.tasks[i].attempt, Key: key,
		Run: m.run, Workflow: "test"}
	needs := t.Needs
	if t.Scarce > 0 {
		needs = append(needs[:len(needs):len(needs)], event.Need{Kind: event.NeedAgent, Name: "scarce", Units: 1, Capacity: t.Scarce})
		if m.tasks[i].spare {
			needs[len(needs)-1].Name = t.Spare
		}
	}
	if needs != nil {
		a.Admission = &event.Admission{Needs: needs, Classify: t.Classify}
	}
	switch {
	case t.Claim != "":
		a.Key = fmt.Sprint(key, "/", m.tasks[i].stage)
		a.Kind, a.Store = event.StoreAttempt, m.claimStage(i)
	case t.HandOver != "":
		h := &event.Handoff{To: t.HandOver, Summary: "half of it", Next: "the rest", Run: m.run, Node: t.Name}
		a.Kind, a.Store = event.StoreAttempt, &event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueDispatch,
			Item: &event.Item{Title: h.Next, Assignee: h.To, Handoff: h}, Notice: &event.NoticeRequest{Place: t.Name, Begin: map[string]time.Duration{"dev": 0},
				Message: event.Message{Kind: event.MessageHandoff, Workflow: "test", Run: m.run, Node: t.Name, Key: key + "/notify"}}}}
	case t.Tell != "":
		telling(a, t.Tell)
	case t.Listen != "":
		a.Kind, a.Store = event.StoreAttempt, &event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopListen, Loop: t.Listen}}
	case t.Emit != "":
		a.Kind, a.Store = event.StoreAttempt, &event.StoreRequest{Emit: &event.EmitRequest{Name: t.Emit, Data: t.Name}}
	case t.Point != "":
		a.Kind, a.Store = event.StoreAttempt, &event.StoreRequest{Sync: &event.SyncRequest{Point: t.Point, As: t.As, Needs: []string{"a", "b"}}}
	case t.Count != "":
		a.Kind, a.Store = event.StoreAttempt, &event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVIncr, Namespace: "default", Key: t.Count, By: 1}}
	case t.Hold:
		a.Kind = event.HoldAttempt
	case t.Null:
		a.Kind, a.Agent = event.NullAgentAttempt, &event.AgentRequest{Name: "null", Type: "null", With: t.With}
		if t.Agent != "" {
			a.Agent.Name = t.Agent
		}
	case t.Agent != "":
		a.Kind, a.Agent = event.ExecAgentAttempt, &event.AgentRequest{Name: t.Agent, Type: "exec"}
	default:
		a.Kind, a.Argv = event.RunAttempt, []string{t.Name}
	}
	m.ask(event.Command{Start: a})
}

func (m *machine) finished(f *event.AttemptFinished) {
	i, live := m.live[f.Ticket]
	if !live {
		return // late: recorded, and that is all
	}
	delete(m.live, f.Ticket)
	if f.Outcome == event.Refused && !m.dying {
		m.tasks[i].attempt-- // it is none
		if m.program.Tasks[i].Spare != "" && !m.tasks[i].spare {
			m.tasks[i].spare = true
			m.ask(event.Command{Cancel: &event.CancelAttempt{Ticket: f.Ticket, Node: m.program.Tasks[i].Name, Reason: "the spare one is asked"}})
			m.ready = append(m.ready, i)
			m.move(i, event.Waiting, "refused")
			return
		}
		m.refused[f.Ticket] = i
		m.move(i, event.Waiting, "refused")
		if m.early[f.Ticket] {
			m.granted(f.Ticket)
		}
		return
	}
	if f.Outcome == event.Lost && !m.dying {
		m.ready = append(m.ready, i)
		m.tasks[i].attempt-- // the same once more
		m.move(i, event.Waiting, f.Error.Message)
		return
	}
	if m.program.Tasks[i].Claim != "" && f.Outcome == event.OK && m.nextClaimStage(i, f.Output) {
		m.ready = append(m.ready, i)
		m.tasks[i].attempt--
		return
	}
	if name := m.program.Tasks[i].Name; f.Outcome == event.OK && f.Output != nil && (m.program.Tasks[i].Claim != "" || m.program.Tasks[i].Count != "" || m.program.Tasks[i].Emit != "" || m.program.Tasks[i].Point != "") {
		if m.counts == nil {
			m.counts = map[string]any{}
		}
		m.counts[name] = f.Output
	}
	m.ended(i, f.Outcome == event.OK, f.Error)
}

// claimStage is what a task with Claim asks for next.
func (m *machine) claimStage(i int) *event.StoreRequest {
	item := m.program.Tasks[i].Claim
	switch m.tasks[i].stage {
	case 0:
		return &event.StoreRequest{Claim: &event.ClaimRequest{Operation: event.ClaimTake, Item: item, Loop: "l", Agent: m.run, Lease: time.Hour}}
	case 1:
		return &event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVIncr, Namespace: "default", Key: "work " + item, By: 1}}
	}
	return &event.StoreRequest{Claim: &event.ClaimRequest{Operation: event.ClaimClose, Item: item, Token: m.tasks[i].token}}
}

// nextClaimStage reports whether there is more to do for the item.
func (m *machine) nextClaimStage(i int, answer value.Value) bool {
	t := &m.tasks[i]
	if t.stage == 0 {
		c, err := event.ClaimOf(answer)
		if err != nil || !c.Won {
			return false
		}
		t.token = c.Token
	}
	t.stage++
	return t.stage < 3
}

// granted makes the attempt again that was refused. The grant may come before the refusal.
func (m *machine) granted(ticket uint64) {
	if i, refused := m.refused[ticket]; refused {
		delete(m.refused, ticket)
		m.ready = append(m.ready, i)
	} else if _, live := m.live[ticket]; live {
		m.early[ticket] = true
	}
}

// call asks for a child. It needs no room: its tasks do, in its own run.
func (m *machine) call(i int) {
	run := childID(m.run, m.program.Tasks[i].Name)
	m.child[run] = i
	m.calls = append(m.calls, run)
	m.askChild(run)
}

func (m *machine) askChild(run string) {
	t := m.program.Tasks[m.child[run]]
	m.ask(event.Command{StartChild: &event.StartChild{Run: run, Node: t.Name, Workflow: t.Call,
		Inputs: map[string]value.Value{"from": t.Name}}})
}

func (m *machine) cancelChild(run, reason string) {
	m.ask(event.Command{CancelChild: &event.CancelChild{Run: run, Node: m.program.Tasks[m.child[run]].Name, Now: m.cancels > 1,
		Reason: reason}})
}

// childID is the id of the child that a task of a run calls.
func childID(run, task string) string {
	sum := sha256.Sum256([]byte(run + "/" + task))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:8]))[:12]
}

func (m *machine) childFinished(f *event.ChildFinished) {
	i, live := m.child[f.Run]
	if !live {
		return
	}
	delete(m.child, f.Run)
	m.calls = slices.DeleteFunc(m.calls, func(run string) bool { return run == f.Run })
	failure := f.Error
	if failure == nil {
		failure = &event.Error{Message: string(f.Status)}
	}
	m.ended(i, f.Status == event.Succeeded, failure)
}

// ended ends a task, or has it tried again.
func (m *machine) ended(i int, ok bool, failure *event.Error) {
	switch {
	case m.dying:
		m.close(i, event.Cancelled, "")
	case ok:
		m.succeed(i)
	case m.tasks[i].attempt < m.program.Tasks[i].Tries:
		m.set(i, time.Second, event.TimerBackoff)
		m.move(i, event.Waiting, "failed once more")
	default:
		m.close(i, event.FailedS, failure.Message)
		m.bad = append(m.bad, m.program.Tasks[i].Name)
		m.block(i)
	}
}

// block ends what can never start.
func (m *machine) block(i int) {
	for _, j := range m.tasks[i].next {
		if !m.tasks[j].status.Terminal() {
			m.close(j, event.Blocked, "")
			m.block(j)
		}
	}
}

func (m *machine) close(i int, to event.Status, reason string) {
	m.move(i, to, reason)
	m.left--
}

func (m *machine) fired(timer uint64) {
	i, set := m.timer[timer]
	if !set || m.dying {
		return
	}
	delete(m.timer, timer)
	m.tasks[i].timer = 0
	if m.program.Tasks[i].Wait == 0 {
		m.ready = append(m.ready, i)
		return
	}
	m.succeed(i)
}

// note ends the task that waits for the message, if one does.
func (m *machine) note(x *event.External) {
	i, there := m.byName[x.Node]
	if !there || !m.program.Tasks[i].Note || m.tasks[i].status != event.Waiting {
		return
	}
	if m.notes == nil {
		m.notes = map[string]any{}
	}
	m.notes[x.Node] = x.Data
	m.succeed(i)
}

// hear gives events to the tasks that wait for them.
func (m *machine) hear() {
	for k := 0; k < len(m.listens); k++ {
		i := m.listens[k]
		at := slices.IndexFunc(m.events, func(e any) bool { return e.(map[string]any)["name"] == m.program.Tasks[i].Event })
		if at < 0 {
			continue
		}
		data := m.events[at].(map[string]any)["data"]
		if dropped := m.events[at].(map[string]any)["dropped"]; dropped != nil {
			data = []any{data, dropped}
		}
		m.events, m.listens = slices.Delete(m.events, at, at+1), slices.Delete(m.listens, k, k+1)
		if m.notes == nil {
			m.notes = map[string]any{}
		}
		m.notes[m.program.Tasks[i].Name] = data
		m.succeed(i)
		k = -1 // succeed may have changed both lists
	}
}

// succeed ends a task and releases what comes after it.
func (m *machine) succeed(i int) {
	m.close(i, event.Succeeded, "")
	for _, j := range m.tasks[i].next {
		if m.tasks[j].missing--; m.tasks[j].missing == 0 {
			m.release(j)
		}
	}
}

func (m *machine) cancel(reason string) {
	m.cancels++
	if m.cancels <= 2 {
		for _, run := range m.calls {
			m.cancelChild(run, reason)
		}
	}
	if m.dying {
		return
	}
	m.dying, m.ready = true, nil
	for _, ticket := range m.inFlight() {
		m.ask(event.Command{Cancel: &event.CancelAttempt{Ticket: ticket, Node: m.program.Tasks[m.live[ticket]].Name, Reason: reason, Leaves: m.leaves(m.live[ticket])}})
	}
	for _, ticket := range slices.Sorted(maps.Keys(m.refused)) {
		m.ask(event.Command{Cancel: &event.CancelAttempt{Ticket: ticket, Node: m.program.Tasks[m.refused[ticket]].Name, Reason: reason, Leaves: m.leaves(m.refused[ticket])}})
	}
	clear(m.refused)
	for i := range m.tasks {
		t := &m.tasks[i]
		if t.timer != 0 {
			m.ask(event.Command{CancelTimer: &event.CancelTimer{Timer: t.timer}})
		}
		if !t.status.Terminal() && t.status != event.Running {
			m.close(i, event.Cancelled, "")
		}
	}
}

// leaves is the key of a task that can wait at a sync point.
func (m *machine) leaves(i int) string {
	if t := m.program.Tasks[i]; t.Point != "" {
		return m.run + "/" + t.Name
	}
	return ""
}

// inFlight is the live tickets in the order of their starts.
func (m *machine) inFlight() []uint64 {
	list := m.flight[:0:0]
	for _, ticket := range m.flight {
		if _, live := m.live[ticket]; live {
			list = append(list, ticket)
		}
	}
	m.flight = list
	return append([]uint64(nil), list...)
}

// again asks once more for all that was in flight and is not kept: same number, same key, another ticket.
func (m *machine) again(kept []uint64) {
	for _, ticket := range slices.Sorted(maps.Keys(m.refused)) {
		m.granted(ticket)
	}
	for _, ticket := range m.inFlight() {
		i := m.live[ticket]
		if slices.Contains(kept, ticket) {
			continue
		}
		delete(m.live, ticket)
		if m.dying {
			m.close(i, event.Cancelled, "")
			continue
		}
		m.start(i)
	}
	for _, run := range m.calls {
		m.askChild(run)
		if m.dying {
			m.cancelChild(run, "asked again")
		}
	}
}

func (m *machine) settle() {
	if m.left > 0 || m.over {
		return
	}
	m.over = true
	end := &event.End{Status: event.Succeeded, Outputs: map[string]value.Value{"tasks": float64(len(m.tasks))}}
	if m.counts != nil {
		end.Outputs["counts"] = m.counts
	}
	if m.notes != nil {
		end.Outputs["notes"] = m.notes
	}
	if m.woken > 0 {
		end.Outputs["woken"] = float64(m.woken)
	}
	switch {
	case m.dying:
		end.Status, end.Limit = event.Cancelled, true
	case len(m.bad) > 0:
		end.Status, end.Error = event.FailedS, &event.Error{Kind: event.Recoverable, Message: fmt.Sprint(m.bad), ExitCode: -1}
	}
	m.move(-1, end.Status, "")
	m.ask(event.Command{End: end})
}

package machine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// stage is how far the work on an item is.
type stage uint8

const (
	claiming  stage = iota // the claim is asked for
	looking                // the source is asked whether the item is still open
	taking                 // the source is told who has it
	making                 // a worktree is made for its run
	working                // its run goes on
	clearing               // the worktree is removed
	checking               // the run has ended, and the source is asked again
	reporting              // the source is told the end
	ending                 // the claim is ended
)

// work is an item that is done.
type work struct {
	key    string
	path   string // of the node
	source *source
	agent  *agent
	item   event.Item
	mark   string
	handling

	stage            stage
	token            uint64
	child            *event.StartChild
	result           *event.ChildFinished
	since            event.Time // of the claim
	begun            event.Time // when the item was chosen
	before           event.Time // of improvement: when the workflow before it began
	parked           bool
	retry, escalated bool                 // the work on the item has failed or was lost before; a person had to look at it
	lost             bool                 // another one may have the item: nothing is written any more
	waits            bool                 // its run goes on when the claim is renewed
	cancel           string               // why its run was cancelled, in words
	now              bool                 // the run was cancelled with Now
	renews           bool                 // a renewal is asked
	tries            int                  // how often the source could not be told the end
	again            bool                 // it is told again with the next heartbeat
	close            event.ClaimOperation // what becomes of the claim
	say              string               // why, in words
	gone             bool                 // the source calls the item closed
	tree             *event.Worktree      // nil: the run has none, or it is removed
	then             after                // what follows when the worktree is removed
}

// words say who has the item.
func (w *work) words() string {
	switch {
	case w.parked:
		return fmt.Sprintf("%s has it, and its run waits", w.agent.Name)
	case w.child != nil:
		return fmt.Sprintf("%s has it, in run %s", w.agent.Name, w.child.Run)
	}
	return fmt.Sprintf("%s takes it", w.agent.Name)
}

// maxReports is how often a source is told the end of an item before that is given up.
const maxReports = 20

// claim begins the work on an item.
func (m *Machine) claim(s *source, a *agent, it *event.Item, h handling) {
	w := &work{key: s.itemKey(it.ID), path: nodePath(it.ID), source: s, agent: a, item: *it, mark: s.marks[it.ID], handling: h}
	a.busy++
	m.work = append(m.work, w)
	w.begun = m.now
	m.limits.begin(m.now)
	m.askClaim(w, &event.ClaimRequest{Operation: event.ClaimTake, Agent: a.Name, Lease: m.lease, Title: it.Title, Needs: m.needs(h.workflow, a)})
}

// nodePath is the path of the node that stands for an item.
func nodePath(id string) string {
	return "item[" + strings.NewReplacer("[", "(", "]", ")", "/", "_").Replace(id) + "]"
}

// askClaim asks for a change of the claim of an item.
func (m *Machine) askClaim(w *work, r *event.ClaimRequest) {
	r.Item, r.Loop, r.Token = w.key, m.loop.Name, w.token
	m.askStore(&ask{kind: askWork, work: w}, w.path, &event.StoreRequest{Claim: r})
}

// askItem asks the source about an item, or tells it something.
func (m *Machine) askItem(w *work, verb event.SourceVerb, o *event.ItemOutcome) {
	m.askSource(&ask{kind: askWork, work: w}, w.path, &event.SourceRequest{Verb: verb, Item: &w.item, Token: w.token, Agent: w.agent.Name, Outcome: o}, w.source)
}

// workAnswered goes on with an item when what was asked about it is answered.
func (m *Machine) workAnswered(w *work, f *event.AttemptFinished) {
	switch w.stage {
	case claiming:
		m.claimed(w, f)
	case looking:
		open, known := w.isOpen(f)
		switch {
		case !known: // nobody knows: it is left for now
			m.bar(w, "its source cannot be asked about it: "+why(f, nil), m.now.Add(m.idle))
			m.release(w, "the source cannot be asked")
		case !open:
			m.barLonger(w, "its source has listed it as open, and then said that it is closed")
			m.release(w, "it was closed meanwhile")
		case w.lost:
			m.forget(w, "the claim was lost")
		default:
			w.stage = taking
			m.askItem(w, event.SourceTake, nil)
		}
	case making:
		m.worktreeMade(w, f)
	case clearing:
		m.worktreeCleared(w, f)
	case taking:
		o, _ := f.Output.(map[string]any)
		switch {
		case f.Outcome != event.OK:
			m.bar(w, "its source does not give it: "+why(f, nil), m.now.Add(m.idle))
			m.release(w, "the source does not give it")
		case o["closed"] == true || o["ok"] == false:
			m.barLonger(w, "its source has listed it as open, and then said that it is closed")
			m.release(w, "it was closed or taken meanwhile")
		case w.lost:
			m.forget(w, "the claim was lost")
		default:
			m.startRun(w)
		}
	case checking:
		switch open, known := w.isOpen(f); {
		case w.lost:
			m.forget(w, "the claim was lost")
		case known && !open:
			w.gone = true
			m.endClaim(w, event.ClaimClose, "it was closed meanwhile, and nothing was written")
		default:
			m.report(w)
		}
	case reporting:
		if w.lost {
			m.forget(w, "the claim was lost")
			return
		}
		if f.Outcome != event.OK {
			if w.tries++; w.tries < maxReports { // with the next heartbeat
				w.again = true
				m.beatSoon()
				return
			}
			m.warn("", fmt.Sprintf("source %s was not told the end of item %s: %s", w.source.Name, w.item.ID, why(f, nil)))
		}
		o, _ := f.Output.(map[string]any)
		w.gone = o["gone"] == true
		m.endClaim(w, w.close, w.say)
	case ending:
		m.ended(w, f)
	case working:
	}
}

// isOpen reads whether a source still has an item; known is false if it does not say.
func (w *work) isOpen(f *event.AttemptFinished) (open, known bool) {
	o, is := f.Output.(map[string]any)
	if f.Outcome != event.OK || !is {
		return false, false
	}
	return o["closed"] != true && o["ok"] != false, true
}

// claimed takes the answer to the claim.
func (m *Machine) claimed(w *work, f *event.AttemptFinished) {
	c, err := event.ClaimOf(f.Output)
	if f.Outcome != event.OK || err != nil {
		m.bar(w, "the store does not say whether it can be taken: "+why(f, err), m.now.Add(m.idle))
		m.drop(w)
		return
	}
	m.clock(c.At)
	if !c.Won {
		if m.shutBy(&c) {
			if w.source.Kind == ir.SourceImprovement { // its turn comes again
				m.turns, m.improved = m.turns-1, w.before
			}
			m.drop(w)
			return
		}
		until := c.Until.Add(m.behind)
		switch c.State {
		case event.ClaimHeld:
			m.bar(w, c.Why, until)
		case event.ClaimOpen:
			m.bar(w, c.Why, max(until, m.now.Add(m.idle)))
		case event.ClaimParked:
			m.bar(w, c.Why, m.now.Add(m.idleMax))
		case event.ClaimClosed:
			m.bar(w, c.Why, 0)
		case event.ClaimDead:
			m.barDead(w, c.Why)
		}
		m.drop(w)
		return
	}
	m.calm("shut")
	w.token, w.since, w.retry = c.Token, m.now, c.Failures+c.Lost > 0
	m.counts.Taken++
	m.show(event.Transition{Node: w.path, From: event.Pending, To: event.Running, Attempt: 1, Name: w.item.ID, Reason: fmt.Sprintf("%s takes it: %s", w.agent.Name, w.item.Title)})
	m.beatSoon()
	if w.source.local() { // the store has just been asked, or nobody else has it
		m.startRun(w)
		return
	}
	w.stage = looking
	m.askItem(w, event.SourceLook, nil)
}

// startRun starts the run that does an item.
func (m *Machine) startRun(w *work) {
	reason := m.barredAgent(w.agent)
	if m.halted() {
		reason = m.draining
	}
	if reason != "" {
		m.release(w, reason)
		return
	}
	if m.loop.Worktree && w.tree == nil {
		w.stage = making
		m.askWorktree(w, false)
		return
	}
	m.limits.unbegin(w.begun) // it counts from now on
	m.limits.begin(m.now)
	m.targets.started(w, m.now)
	w.stage = working
	w.child = &event.StartChild{Run: RunOf(w.key, w.token), Node: w.path, Workflow: w.workflow, Inputs: w.inputs, Late: w.late,
		Cause: m.causeOf(&w.item)}
	enter(w.child, w.tree)
	m.do(event.Command{StartChild: w.child})
	m.show(event.Transition{Node: w.path, From: event.Running, To: event.Waiting, WaitsFor: &event.WaitsFor{Kind: event.WaitChild, Name: w.child.Run}, Name: w.item.ID})
}

// causeOf is the cause of the run that does an item.
func (m *Machine) causeOf(item *event.Item) *event.Cause {
	return &event.Cause{Kind: event.CauseLoop, Name: m.loop.Name, ID: item.ID, Events: m.run.Events(), Handoff: item.Handoff}
}

// runEnded takes the end of an item's run.
func (m *Machine) runEnded(f *event.ChildFinished) {
	at := slices.IndexFunc(m.work, func(w *work) bool { return w.stage == working && w.child.Run == f.Run })
	if at < 0 {
		return
	}
	w := m.work[at]
	if w.result = f; f.Usage != nil {
		m.usage.Add(*f.Usage)
		m.limits.spend(m.now, f.Usage.CostUSD)
	}
	m.clearWorktree(w, after{ended: f})
}

// finish goes on with an item whose run has ended.
func (m *Machine) finish(w *work, f *event.ChildFinished) {
	switch {
	case w.lost:
		m.forget(w, "the claim was lost")
	case m.cancels > 0 && f.Status == event.Cancelled:
		m.release(w, m.draining)
	case f.Status == event.Succeeded:
		w.close = event.ClaimClose
		if w.source.local() { // its end and that of the claim are one transaction
			m.endClaim(w, w.close, "")
			return
		}
		w.stage = checking
		m.askItem(w, event.SourceLook, nil)
	default:
		w.close, w.say = event.ClaimFail, fmt.Sprintf("run %s %s", f.Run, f.Status)
		if f.Error != nil {
			w.say = f.Error.Message
			if f.Error.Kind == event.Fatal {
				m.stopAgent(w)
			}
		}
		if w.source.local() {
			m.endClaim(w, w.close, w.say)
			return
		}
		m.report(w)
	}
}

// report tells the source how the work on an item ended.
func (m *Machine) report(w *work) {
	w.stage = reporting
	o := &event.ItemOutcome{Status: event.ItemClosed, Run: w.child.Run}
	if w.close != event.ClaimClose {
		o.Status, o.Message = event.ItemFailed, w.say
	}
	m.askItem(w, event.SourceReport, o)
}

// release gives an item back that was not done.
func (m *Machine) release(w *work, reason string) {
	m.clearWorktree(w, after{reason: reason})
}

// endClaim ends the claim of an item.
func (m *Machine) endClaim(w *work, op event.ClaimOperation, reason string) {
	w.stage, w.close, w.say = ending, op, reason
	r := &event.ClaimRequest{Operation: op, Message: reason, Gone: w.gone && op == event.ClaimClose}
	if w.child != nil {
		r.Run = w.child.Run
	}
	m.askClaim(w, r)
}

// ended takes the end of the claim, which is the end of the work on an item.
func (m *Machine) ended(w *work, f *event.AttemptFinished) {
	c, err := event.ClaimOf(f.Output)
	switch {
	case f.Outcome != event.OK || err != nil:
		m.warn("", fmt.Sprintf("the claim of item %s was not ended: %s", w.item.ID, why(f, err)))
	case !c.Won:
		m.forget(w, "the claim was lost: "+c.Why)
		return
	}
	to, reason := event.Succeeded, w.say
	switch w.close {
	case event.ClaimClose:
		m.counts.Closed++
		m.targets.ended(w, m.now)
		m.limits.succeed()
		m.barred[w.key] = bar{why: "it was done in run " + w.runID(), mark: w.mark, done: true}
		if at := slices.IndexFunc(w.source.items, func(i event.Item) bool { return i.ID == w.item.ID }); at >= 0 {
			w.source.items[at].Closed = true // for those that need it, until the source is asked again
		}
	case event.ClaimFail:
		to = event.FailedS
		m.counts.Failed++
		w.escalated = w.escalated || c.State == event.ClaimDead
		m.targets.ended(w, m.now)
		m.limits.fail(m)
		if c.State == event.ClaimDead {
			m.counts.Dead++
			m.barDead(w, "it was given up after failures")
			m.tell("dead "+w.key, "error", fmt.Sprintf("Loop %s gives up an item", m.loop.Name), fmt.Sprintf("Item %s of source %s has failed again and is not tried any more: %s. %s", w.item.ID, w.source.Name, w.item.Title, w.say), w.item.Value())
		}
	case event.ClaimRelease:
		to = event.Skipped
		m.counts.Released++
	case event.ClaimTake, event.ClaimRenew, event.ClaimPark, event.ClaimLook:
	}
	m.showEnd(w, to, reason)
	if w.child != nil {
		delete(m.lies, w.key)
		m.refresh()
	}
	m.drop(w)
}

func (w *work) runID() string {
	if w.child == nil {
		return ""
	}
	return w.child.Run
}

// showEnd shows how the work on an item ended.
func (m *Machine) showEnd(w *work, to event.Status, reason string) {
	from := event.Running
	if w.child != nil {
		from = event.Waiting
	}
	r := &event.Result{ExitCode: -1, Attempts: 1, Agent: w.agent.Name, StartedAt: w.since, FinishedAt: m.now}
	if w.result != nil {
		r.Error, r.Usage = w.result.Error, w.result.Usage
		if len(w.result.Outputs) > 0 {
			out := map[string]value.Value{}
			for name, v := range w.result.Outputs { // any order: it fills a map
				out[name] = v
			}
			r.Output = out
		}
	}
	m.show(event.Transition{Node: w.path, From: from, To: to, Attempt: 1, Name: w.item.ID, Reason: reason, Result: r})
}

// forget ends the work on an item of which the claim is another's: nothing is written.
func (m *Machine) forget(w *work, reason string) {
	if w.token != 0 {
		m.showEnd(w, event.Cancelled, reason)
	}
	m.bar(w, reason, m.now.Add(m.idle))
	m.drop(w)
}

// drop ends the work on an item, and lets its agent take another one.
func (m *Machine) drop(w *work) {
	m.work = slices.DeleteFunc(m.work, func(other *work) bool { return other == w })
	if !w.parked {
		w.agent.busy--
	}
	if w.token == 0 {
		m.limits.unbegin(w.begun)
	}
	m.look()
}

// bar keeps an item from being taken: until a moment, or with 0 until it changes.
func (m *Machine) bar(w *work, reason string, until event.Time) {
	m.barred[w.key] = bar{why: reason, until: until, mark: w.mark}
}

// barLonger keeps an item from being taken, each time for twice as long.
func (m *Machine) barLonger(w *work, reason string) {
	d := m.idle
	for i := 0; i < m.lies[w.key] && d < day; i++ {
		d *= 2
	}
	m.lies[w.key]++
	m.bar(w, reason, m.now.Add(min(d, day)))
}

// barDead keeps an item from being taken that was given up, until it changes or something wakes the loop: somebody may have revived it.
func (m *Machine) barDead(w *work, reason string) {
	m.barred[w.key] = bar{why: reason, mark: w.mark, dead: m.now}
}

// unbarDead lets items be asked for again that were given up, each of them once in m.idle at most.
func (m *Machine) unbarDead() {
	for k, b := range m.barred { // any order: each for itself
		if b.dead == 0 {
			continue
		}
		if b.until = b.dead.Add(m.idle); b.until <= m.now {
			delete(m.barred, k)
		} else {
			m.barred[k] = b
		}
	}
}

// stopAgent stops the agent of an item whose run has ended fatally.
func (m *Machine) stopAgent(w *work) {
	if w.agent.stopped != "" {
		return
	}
	w.agent.stopped = fmt.Sprintf("it was stopped by the fatal failure of item %s: %s", w.item.ID, w.result.Error.Message)
	m.warn("", fmt.Sprintf("agent %s takes nothing any more: %s", w.agent.Name, w.agent.stopped))
	m.tell("agent "+w.agent.Name+" "+w.key, "critical", fmt.Sprintf("Loop %s stops agent %s", m.loop.Name, w.agent.Name), w.agent.stopped, w.item.Value())
	m.publish("agent_stopped", w.agent.Name, w.agent.stopped, 0)
}

// beatSoon sees to it that claims are renewed.
func (m *Machine) beatSoon() {
	if due := m.now.Add(m.heartbeat); m.beat.number == 0 || m.beat.due > due {
		m.set(&m.beat, due, event.TimerHeartbeat)
	}
}

// holds reports whether the claim of an item has a lease that must be renewed.
func (w *work) holds() bool { return w.token != 0 && !w.parked && !w.lost && w.stage != ending }

// beats reports whether something is to be done for the item with the next heartbeat.
func (w *work) beats() bool { return w.holds() || w.again }

// renewAll renews all claims that have a lease, and tells sources again what they did not take.
func (m *Machine) renewAll() {
	for _, w := range slices.Clone(m.work) {
		if w.holds() && !w.renews {
			m.renew(w)
		}
		if w.again {
			w.again = false
			m.report(w)
		}
	}
	if slices.ContainsFunc(m.work, (*work).beats) {
		m.beatSoon()
	}
}

func (m *Machine) renew(w *work) {
	w.renews = true
	m.askStore(&ask{kind: askRenew, work: w}, w.path, &event.StoreRequest{Claim: &event.ClaimRequest{Operation: event.ClaimRenew, Item: w.key, Loop: m.loop.Name, Agent: w.agent.Name,
		Lease: m.lease, Token: w.token, Run: w.runID()}})
}

// renewed takes the answer to the renewal of a claim.
func (m *Machine) renewed(w *work, f *event.AttemptFinished) {
	w.renews = false
	if !slices.Contains(m.work, w) || w.stage == ending {
		return
	}
	c, err := event.ClaimOf(f.Output)
	if f.Outcome != event.OK || err != nil {
		m.warn("renew", "a claim could not be renewed: "+why(f, err))
		return
	}
	m.calm("renew")
	m.clock(c.At)
	w.lost = !c.Won
	if w.stage != working {
		return
	}
	if w.waits {
		w.waits = false
		m.do(event.Command{StartChild: w.child})
		w.recancel(m)
	}
	if w.lost {
		m.cancelRun(w, "the claim of the item was lost: "+c.Why, false)
	} else if c.Waits {
		w.escalated = w.escalated || c.Asks
		m.park(w)
	}
}

// park lets the agent of an item whose run waits for a person, an event or a distant moment take another item. The claim has no lease any more, and ends with the run.
func (m *Machine) park(w *work) {
	w.parked = true
	w.agent.busy--
	m.askStore(&ask{kind: askPark, work: w}, w.path, &event.StoreRequest{Claim: &event.ClaimRequest{Operation: event.ClaimPark, Item: w.key, Loop: m.loop.Name,
		Agent: w.agent.Name, Token: w.token, Run: w.runID()}})
	m.show(event.Transition{Node: w.path, From: event.Waiting, To: event.Waiting, Name: w.item.ID, Reason: fmt.Sprintf("its run waits; %s takes other items", w.agent.Name),
		WaitsFor: &event.WaitsFor{Kind: event.WaitChild, Name: w.child.Run}})
	m.look()
}

// parkedAnswered takes the answer to the parking of a claim.
func (m *Machine) parkedAnswered(w *work, f *event.AttemptFinished) {
	c, err := event.ClaimOf(f.Output)
	if f.Outcome == event.OK && err == nil && !c.Won && w.stage == working {
		w.lost = true
		m.cancelRun(w, "the claim of the item was lost: "+c.Why, false)
	}
}

// cancelRun cancels the run of an item.
func (m *Machine) cancelRun(w *work, reason string, now bool) {
	if w.cancel != "" && (w.now || !now) {
		return
	}
	w.cancel, w.now = reason, now
	m.do(event.Command{CancelChild: &event.CancelChild{Run: w.child.Run, Node: w.path, Now: now, Reason: reason}})
}

// recancel repeats the cancel of a run for another driver.
func (w *work) recancel(m *Machine) {
	if w.cancel != "" {
		m.do(event.Command{CancelChild: &event.CancelChild{Run: w.child.Run, Node: w.path, Now: w.now, Reason: w.cancel}})
	}
}

// needs are the agent and the quotas that a workflow asks for, with the workflows that it calls, as the store names them.
func (m *Machine) needs(workflow string, a *agent) []string {
	all, seen := map[string]bool{}, map[string]bool{}
	add := func(kind event.NeedKind, name string) { all[string(kind)+" "+name] = true }
	quotas := func(list []ir.QuotaUse) {
		for i := range list {
			add(event.NeedQuota, list[i].Quota)
		}
	}
	asks := false
	var walk func(name string)
	walk = func(name string) {
		w := m.graph.Program.Workflow(name)
		if w == nil || seen[name] {
			return
		}
		seen[name] = true
		quotas(w.Quotas)
		for n := range ir.All(w.Nodes) {
			quotas(n.Quotas)
			switch x := n.Action.(type) {
			case *ir.Call:
				walk(x.Workflow)
			case *ir.AgentTask:
				asks = asks || x.Member != nil || x.Agent == a.Name
			}
		}
	}
	walk(workflow)
	quotas(m.loop.Quotas)
	if asks {
		add(event.NeedAgent, a.Name)
		quotas(a.Quotas)
	}
	return slices.Sorted(maps.Keys(all))
}

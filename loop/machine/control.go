package machine

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// woken takes a message that something has changed which concerns the loop.
func (m *Machine) woken(x *event.External) {
	w, err := event.WakeOf(x.Data)
	switch {
	case err != nil:
		m.warn("", "a message to the loop cannot be read: "+err.Error())
	case w.Kind == event.WakeControl:
		before, known, stops := m.control, m.heard, m.stopsAgents()
		m.hear(w.Control)
		if known {
			m.publishPauses(&before, stops && !m.stopsAgents())
		}
		m.askPauses(&w.Control)
		m.obey()
		m.refresh()
		m.look()
	case w.Kind == event.WakeBegin:
		begin := *m.run.Loop
		begin.Once, begin.UntilIdle = w.Begin.Once, w.Begin.UntilIdle
		run := *m.run // the event keeps its own
		run.Loop = &begin
		m.run, m.rounds = &run, 0
		m.refresh()
		m.stale()
		m.look()
	case w.Kind == event.WakeEnd:
		if m.draining == "" {
			m.draining = w.Why
			m.show(event.Transition{From: event.Running, To: event.Running, Note: event.Warned, Reason: m.draining + "; running items finish"})
		}
	default:
		m.unbarDead()
		m.shut.until = 0 // the breaker may have been closed
		m.stale()
		m.look()
	}
}

// hear takes how the loop is to behave.
func (m *Machine) hear(c event.LoopControl) {
	m.clock(c.At)
	for agent, until := range c.Paused { // any order: each for itself
		if until != event.Forever {
			c.Paused[agent] = until.Add(m.behind)
		}
	}
	if m.heard { // the first answer says nothing new
		m.revive(&c)
	}
	m.control = c
}

// askPauses asks the store anew how the loop is to behave, if a message names the end of a pause: how long the message was on its way is
// not known, and so not how far the clock of the store was set back. Until the answer comes the pauses last as if the message came at once.
func (m *Machine) askPauses(c *event.LoopControl) {
	asks := false
	for agent, until := range c.Paused { // any order: each for itself
		if until != event.Forever && c.At != 0 && m.rules[ir.PausesAsk] {
			asks = true
			m.control.Paused[agent] = max(until, m.now.Add(until.Sub(c.At)-m.behind))
		}
	}
	if asks {
		m.askStore(&ask{kind: askControl}, "loop", &event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopRead, Loop: m.loop.Name}})
	}
}

// revive lets agents take items again that a fatal failure has stopped, when people end a pause: no agent is paused that was not before.
func (m *Machine) revive(c *event.LoopControl) {
	for agent := range c.Paused { // any order: one is enough
		if _, before := m.control.Paused[agent]; !before || c.Paused[agent] > m.control.Paused[agent] {
			return
		}
	}
	if c.Stopped {
		return
	}
	for _, a := range m.agents {
		a.stopped = ""
	}
}

// obey does what people want of the loop.
func (m *Machine) obey() {
	if m.control.Stopped && m.draining == "" {
		m.draining = "the loop was stopped"
		if m.control.By != "" {
			m.draining += " by " + m.control.By
		}
		m.show(event.Transition{From: event.Running, To: event.Running, Note: event.Warned, Reason: m.draining + "; running items finish"})
		m.publish("stopped", "", m.draining, 0)
	}
}

// stopsAgents reports whether a fatal failure has stopped an agent.
func (m *Machine) stopsAgents() bool {
	return slices.ContainsFunc(m.agents, func(a *agent) bool { return a.stopped != "" })
}

// publishPauses publishes which pauses people have begun and ended; revived: agents that had been stopped take items again. A pause whose time is
// over is not published: its event named the end.
func (m *Machine) publishPauses(before *event.LoopControl, revived bool) {
	by := ""
	if m.control.By != "" {
		by = " by " + m.control.By
	}
	for _, agent := range slices.Sorted(maps.Keys(m.control.Paused)) {
		if before.Paused[agent] <= m.now {
			m.publish("paused", agent, "it was paused"+by, m.control.Paused[agent])
		}
	}
	for _, agent := range slices.Sorted(maps.Keys(before.Paused)) {
		if m.control.Paused[agent] == 0 && before.Paused[agent] > m.now {
			m.publish("resumed", agent, "it was resumed"+by, 0)
			revived = revived && agent != ""
		}
	}
	if revived {
		m.publish("resumed", "", "it was resumed"+by, 0)
	}
}

// publish publishes the event flowrun.loop with the new state of the loop, or of one of its agents. until is the moment in which the state ends
// by itself; 0: there is none.
func (m *Machine) publish(state, agent, reason string, until event.Time) {
	if !m.rules[ir.LoopsPublish] {
		return
	}
	data := map[string]value.Value{"loop": m.loop.Name, "state": state, "agent": nil, "reason": reason, "until": nil}
	if agent != "" {
		data["agent"] = agent
	}
	if until != 0 && until != event.Forever {
		data["until"] = until.String()
	}
	m.askStore(&ask{kind: askNotice}, "loop", &event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopTell, Loop: m.loop.Name, Tell: data}})
}

// halted reports whether no run begins any more, not even of an item that was claimed.
func (m *Machine) halted() bool { return m.control.Stopped || m.cancels > 0 || m.final != nil }

// paused is until when an agent takes nothing because people want it so; 0: it may.
func (m *Machine) paused(agent string) event.Time {
	return max(m.control.Paused[""], m.control.Paused[agent])
}

// barredAgent says in words why an agent takes nothing; "": nothing is in the way.
func (m *Machine) barredAgent(a *agent) string {
	switch until := m.paused(a.Name); {
	case a.stopped != "":
		return a.stopped
	case until == event.Forever:
		return "it is paused"
	case until > m.now:
		return "it is paused until " + until.String()
	}
	return ""
}

// cancel ends the loop: runs are cancelled, and the loop ends behind them. A second cancel waits for nothing.
func (m *Machine) cancel(reason string) {
	m.cancels++
	if m.draining = "the loop was cancelled"; reason != "" {
		m.draining += ": " + reason
	}
	if m.cancels > 1 {
		for _, w := range m.work {
			if w.stage == working {
				m.cancelRun(w, m.draining, true)
			}
		}
		m.end(m.cancelled())
		return
	}
	for _, w := range slices.Clone(m.work) {
		if w.stage == working && !w.parked {
			m.cancelRun(w, m.draining, false)
		}
	}
}

func (m *Machine) cancelled() *event.End {
	return &event.End{Status: event.Cancelled, Limit: true, Error: failure(event.Fatal, event.ReasonCancelled, m.draining)}
}

// settle looks, behind each event, whether the loop is at its end, and else when it wakes by itself.
func (m *Machine) settle() {
	m.judge()
	if m.handOver() {
		return
	}
	if m.draining == "" && m.round == none && m.heard && m.rounds > 0 {
		switch {
		case m.run.Loop.Once:
			m.draining = "each place was asked once"
		case m.run.Loop.UntilIdle && m.busy() == 0:
			m.draining = "there is nothing to do"
		}
	}
	if m.draining != "" && m.busy() == 0 && m.quiet() {
		e := &event.End{Status: event.Succeeded}
		switch {
		case m.final != nil:
			e = m.final
		case m.cancels > 0:
			e = m.cancelled()
		}
		m.end(e)
		return
	}
	m.keepWatches()
	if m.round == none && m.draining == "" {
		m.set(&m.wake, m.next(), event.TimerIdle)
	} else {
		m.set(&m.wake, 0, event.TimerIdle)
	}
	if m.beat.number != 0 && !slices.ContainsFunc(m.work, (*work).beats) {
		m.set(&m.beat, 0, event.TimerHeartbeat)
	}
}

// busy is how many items are being done. Those that are parked do not count, as long as their runs wait.
func (m *Machine) busy() (n int) {
	for _, w := range m.work {
		if !w.parked || w.stage != working {
			n++
		}
	}
	return n
}

// quiet reports whether no answer is awaited that matters for the end.
func (m *Machine) quiet() bool {
	for _, a := range m.asks { // any order: one is enough
		if a.kind != askList && a.kind != askWatch {
			return false
		}
	}
	return true
}

// next is when the loop wakes by itself: the first moment at which something may be taken that cannot be taken now; 0: only a message
// wakes it.
func (m *Machine) next() (at event.Time) {
	sooner := func(t event.Time) {
		if t > m.now && t != event.Forever && (at == 0 || t < at) {
			at = t
		}
	}
	sooner(m.targets.next(m.now))
	free := false
	for _, a := range m.agents {
		if a.stopped != "" || a.busy >= a.places {
			continue
		}
		if m.paused(a.Name) > m.now {
			sooner(m.paused(a.Name))
			continue
		}
		free = true
	}
	if !free || !m.heard {
		return at
	}
	if until := max(m.limits.until(m.now), m.shut.until); until > m.now {
		sooner(until)
		return at
	}
	for _, s := range m.sources {
		switch {
		case s.Kind == ir.SourceImprovement:
			if !slices.ContainsFunc(m.work, func(w *work) bool { return w.source == s }) && m.improved != 0 {
				sooner(m.nextImprovement(s))
			}
		default:
			if s.watch == 0 {
				sooner(s.next)
			}
			for i := range s.items {
				if b, is := m.barred[s.itemKey(s.items[i].ID)]; is {
					sooner(b.until)
				}
			}
		}
	}
	return at
}

// end ends the run.
func (m *Machine) end(e *event.End) {
	for _, s := range m.sources {
		m.endWatch(s, "the run of the loop ends")
	}
	m.set(&m.wake, 0, event.TimerIdle)
	m.set(&m.beat, 0, event.TimerHeartbeat)
	m.over = true
	e.Outputs = map[string]value.Value{"taken": float64(m.counts.Taken), "closed": float64(m.counts.Closed), "failed": float64(m.counts.Failed),
		"released": float64(m.counts.Released), "dead": float64(m.counts.Dead)}
	if n := m.parked(); n > 0 {
		e.Outputs["parked"] = float64(n)
	}
	if e.Loop == nil {
		e.Loop = &event.LoopLeft{}
	}
	e.Loop.Next = m.nextStart(e.Loop.GoesOn)
	if m.usage != (event.Usage{}) {
		u := m.usage
		e.Usage = &u
	}
	reason := m.draining
	m.show(event.Transition{From: event.Running, To: e.Status, Reason: reason,
		Result: &event.Result{ExitCode: -1, Error: e.Error, StartedAt: m.started, FinishedAt: m.now, Usage: e.Usage}})
	m.do(event.Command{End: e})
}

// tell sends a message to the channels of the loop; about makes it one message, however often it is asked for.
func (m *Machine) tell(about, level, title, text string, data value.Value) {
	if len(m.loop.Notify) == 0 {
		return
	}
	n := compose.Notice{About: about, Now: m.now, To: m.loop.Notify,
		Message: event.Message{Title: title, Text: text, Level: level, Kind: event.MessageLoop, Data: data}}
	a, err := m.composer.Notice(&n)
	if err != nil {
		m.warn("", "a message could not be sent: "+err.Message)
		return
	}
	k := a.Key
	m.start(&ask{kind: askNotice}, a.Node, a.Name, a)
	a.Key = k
}

// limits bound what the loop does.
type limits struct {
	perHour  int     // 0: no bound
	inARow   int     // 0: no bound
	costADay float64 // 0: no bound

	begun  []event.Time // of the last hour, at most perHour
	failed int          // in a row
	spent  []spending   // of the last 24 hours
}

type spending struct {
	At   event.Time `json:"at,string"`
	Cost float64    `json:"cost"`
}

const day = 24 * time.Hour

func (l *limits) compute(c *compose.Composer, spec *ir.LoopLimits) (err error) {
	if spec == nil {
		return nil
	}
	here := c.Constants()
	if spec.TasksPerHour != nil {
		l.perHour, err = c.Count(spec.TasksPerHour, here, 0, plan.MaxLoopRate)
	}
	if spec.ConsecutiveFailures != nil && err == nil {
		l.inARow, err = c.Count(spec.ConsecutiveFailures, here, 0, plan.MaxLoopRate)
	}
	if spec.CostUSDPerDay != nil && err == nil {
		var v value.Value
		if v, err = c.Value(spec.CostUSDPerDay, here); err == nil {
			cost, is := v.(float64)
			if l.costADay = cost; !is || cost <= 0 {
				err = fmt.Errorf("cost_usd_per_day must be a number of dollars above 0")
			}
		}
	}
	return err
}

// until is when the next item may begin; a moment that has passed: now.
func (l *limits) until(now event.Time) (at event.Time) {
	if l.perHour > 0 && len(l.begun) >= l.perHour {
		at = l.begun[len(l.begun)-l.perHour].Add(time.Hour)
	}
	if l.costADay > 0 {
		sum := 0.0
		for i := len(l.spent) - 1; i >= 0; i-- {
			if sum += l.spent[i].Cost; sum >= l.costADay {
				at = max(at, l.spent[i].At.Add(day))
				break
			}
		}
	}
	return at
}

// shut is until when no item is taken, because the breaker of a quota of the loop is open or what the quota may spend is spent.
type shut struct {
	until event.Time // 0: nothing is in the way
	why   string
}

// shutBy takes the answer to a claim that was refused. It reports whether the reason is a quota on which the whole loop depends.
func (m *Machine) shutBy(c *event.Claim) bool {
	if c.Shut == "" || !slices.ContainsFunc(m.loop.Quotas, func(q ir.QuotaUse) bool { return string(event.NeedQuota)+" "+q.Quota == c.Shut }) {
		return false
	}
	m.shut = shut{max(c.Until.Add(m.behind), m.now.Add(m.idle)), c.Why}
	m.warn("shut", fmt.Sprintf("no item is taken until %s: %s", m.shut.until, c.Why))
	return true
}

// allow reports whether another item may begin. It tells people of a cost that was reached.
func (l *limits) allow(m *Machine) bool {
	if m.shut.until > m.now {
		return false
	}
	until := l.until(m.now)
	if until <= m.now {
		m.calm("limit")
		return m.draining == ""
	}
	text := fmt.Sprintf("a limit of the loop is reached; the next item can begin at %s", until)
	if !m.warned["limit"] {
		m.tell("limit "+until.String(), "warning", fmt.Sprintf("Loop %s has reached a limit", m.loop.Name), text, nil)
		m.publish("limit", "", text, until)
	}
	m.warn("limit", text)
	return false
}

// begin counts a beginning at a moment.
func (l *limits) begin(at event.Time) {
	if l.perHour == 0 {
		return
	}
	i, _ := slices.BinarySearch(l.begun, at)
	if l.begun = slices.Insert(l.begun, i, at); len(l.begun) > l.perHour {
		l.begun = l.begun[1:]
	}
}

// unbegin takes a beginning back.
func (l *limits) unbegin(at event.Time) {
	if i, found := slices.BinarySearch(l.begun, at); found {
		l.begun = slices.Delete(l.begun, i, i+1)
	}
}

func (l *limits) spend(now event.Time, cost float64) {
	if l.costADay == 0 || cost == 0 {
		return
	}
	for len(l.spent) > 0 && now.Sub(l.spent[0].At) >= day {
		l.spent = l.spent[1:]
	}
	l.spent = append(l.spent, spending{now, cost})
}

func (l *limits) succeed() { l.failed = 0 }

// fail counts a failed item, and ends the loop after too many in a row.
func (l *limits) fail(m *Machine) {
	l.failed++
	if l.inARow == 0 || l.failed < l.inARow || m.final != nil || m.cancels > 0 || m.control.Stopped {
		return
	}
	m.draining = fmt.Sprintf("%d items in a row have failed", l.failed)
	m.final = &event.End{Status: event.FailedS, Limit: true, Error: failure(event.Blocking, event.ReasonLimit, m.draining)}
	m.tell("failures", "critical", fmt.Sprintf("Loop %s stops", m.loop.Name), m.draining+". What runs goes on to its end.", nil)
	m.publish("stopped", "", m.draining, 0)
}

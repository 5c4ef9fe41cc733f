package machine

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Bounds of a run of a loop. After either of them it ends at the first moment at which no item is in work, and the next run goes on with
// what it knows. From twice as many events on it takes no item before that.
const (
	MaxEvents = 10_000
	MaxAge    = 24 * time.Hour
)

// maxCarried bounds how many items of each kind a run carries over. What is left out is asked for again.
const maxCarried = 500

// carried is what a run of a loop knows and its next run needs. Moments are texts in JSON, whose numbers are too short for them.
type carried struct {
	At       event.Time        `json:"at,string"` // the end of the run
	Parked   []leftWork        `json:"parked,omitempty"`
	Begun    []moment          `json:"begun,omitempty"` // items of the last hour
	Failed   int               `json:"failed,omitempty"`
	Spent    []spending        `json:"spent,omitempty"`
	Stopped  map[string]string `json:"stopped,omitempty"` // agents, and why
	Turns    int               `json:"turns,omitempty"`
	Improved event.Time        `json:"improved,string,omitempty"`
	Barred   []leftBar         `json:"barred,omitempty"`
	Lies     map[string]int    `json:"lies,omitempty"`
	Warned   []string          `json:"warned,omitempty"`
	Quiet    map[string]int    `json:"quiet,omitempty"` // by source
	Targets  *leftTargets      `json:"targets,omitempty"`
}

type moment struct {
	At event.Time `json:"at,string"`
}

// leftBar is an item that is not taken.
type leftBar struct {
	Key   string     `json:"key"`
	Why   string     `json:"why"`
	Until event.Time `json:"until,string,omitempty"`
	Mark  string     `json:"mark"`
	Dead  event.Time `json:"dead,string,omitempty"`
	Done  bool       `json:"done,omitempty"`
}

// leftWork is an item whose run waits when the run of the loop ends. The next run of the loop goes on with it.
type leftWork struct {
	Source string                 `json:"source"`
	Key    string                 `json:"key"`
	Item   value.Value            `json:"item"`
	Mark   string                 `json:"mark"`
	Agent  string                 `json:"agent"`
	Token  uint64                 `json:"token"`
	Run    string                 `json:"run"`
	Does   string                 `json:"workflow"`
	Inputs map[string]value.Value `json:"inputs,omitempty"`
	Since  event.Time             `json:"since,string"` // of the claim
	Tree   *event.Worktree        `json:"tree,omitempty"`
	Asked  bool                   `json:"asked,omitempty"` // a person had to look at it
}

// isOld reports whether the run has reached a bound.
func (m *Machine) isOld() bool { return m.events >= MaxEvents || m.now.Sub(m.started) >= MaxAge }

// isFull reports whether the journal is so long that the run takes nothing more, so that it comes to its end.
func (m *Machine) isFull() bool { return m.events >= 2*MaxEvents }

// handOver ends the run if it is old and no item is in work, so that the next one begins with what it knows. It reports whether it did.
func (m *Machine) handOver() bool {
	if m.draining != "" || m.run.Loop.Once || !m.heard || !m.isOld() || m.busy() > 0 || m.round != none || !m.quiet() {
		return false
	}
	m.draining = "the next run goes on"
	e := &event.End{Status: event.Succeeded}
	e.Loop = &event.LoopLeft{GoesOn: true}
	m.end(e)
	return true
}

// nextStart is how the next run of the loop begins.
func (m *Machine) nextStart(goesOn bool) event.LoopStart {
	return event.LoopStart{Number: m.run.Loop.Number + 1, UntilIdle: m.run.Loop.UntilIdle, Carry: m.leave(goesOn)}
}

// parked is how many items wait.
func (m *Machine) parked() (n int) {
	for _, w := range m.work {
		if w.isLeft() {
			n++
		}
	}
	return n
}

func (w *work) isLeft() bool { return w.parked && w.stage == working && !w.lost }

// leave is what the next run of the loop is to know. If the run goes on, that is all that is to be remembered, and else what
// waits, and what is counted against the limits.
func (m *Machine) leave(goesOn bool) value.Value {
	c := carried{At: m.now, Spent: m.limits.spent, Turns: m.turns, Targets: m.targets.leave()}
	if goesOn || slices.ContainsFunc(m.sources, func(s *source) bool { return s.every > 0 }) {
		c.Improved = m.improved
	}
	for _, w := range m.work {
		if w.isLeft() {
			item := w.item
			item.Body = "" // the run has it
			c.Parked = append(c.Parked, leftWork{w.source.Name, w.key, item.Object(), w.mark, w.agent.Name, w.token, w.child.Run, w.child.Workflow, w.child.Inputs, w.since, w.tree, w.escalated})
		}
	}
	for _, at := range m.limits.begun {
		c.Begun = append(c.Begun, moment{at})
	}
	if goesOn {
		m.remember(&c)
	}
	text, err := json.Marshal(&c)
	if err == nil {
		var v value.Value
		if v, err = value.Decode(text); err == nil {
			return v
		}
	}
	return nil
}

// remember adds what a run that goes on knows besides.
func (m *Machine) remember(c *carried) {
	c.Failed, c.Lies, c.Warned = m.limits.failed, firstOf(m.lies), slices.Sorted(maps.Keys(firstOf(m.warned)))
	for _, a := range m.agents {
		if a.stopped != "" {
			if c.Stopped == nil {
				c.Stopped = map[string]string{}
			}
			c.Stopped[a.Name] = a.stopped
		}
	}
	for _, s := range m.sources {
		if s.quiet > 0 {
			if c.Quiet == nil {
				c.Quiet = map[string]int{}
			}
			c.Quiet[s.Name] = s.quiet
		}
	}
	barred := firstOf(m.barred)
	for _, k := range slices.Sorted(maps.Keys(barred)) {
		b := barred[k]
		if b.mark == "" { // of a turn of improvement, which does not come again
			continue
		}
		c.Barred = append(c.Barred, leftBar{k, b.why, b.until, b.mark, b.dead, b.done})
	}
}

// firstOf are the first entries of a map, in the order of the keys.
func firstOf[V any](all map[string]V) map[string]V {
	if len(all) <= maxCarried {
		return all
	}
	out := map[string]V{}
	for _, k := range slices.Sorted(maps.Keys(all))[:maxCarried] {
		out[k] = all[k]
	}
	return out
}

// adopt takes over what the run of the loop before this one has left. What does not fit the program any more is left out.
func (m *Machine) adopt() {
	var c carried
	if m.run.Loop.Carry == nil || json.Unmarshal(value.Append(nil, m.run.Loop.Carry), &c) != nil {
		return
	}
	back := max(0, c.At.Sub(m.now)) // how far the clock was set back meanwhile
	m.targets.adopt(c.Targets, m.now, back)
	m.limits.failed, m.limits.spent, m.turns = c.Failed, c.Spent, c.Turns
	for i := range m.limits.spent {
		m.limits.spent[i].At = c.Spent[i].At.Add(-back)
	}
	if c.Improved != 0 {
		m.improved = c.Improved.Add(-back)
	}
	for _, at := range c.Begun {
		m.limits.begin(at.At.Add(-back))
	}
	for _, a := range m.agents {
		a.stopped = c.Stopped[a.Name]
	}
	for _, s := range m.sources {
		s.quiet = c.Quiet[s.Name]
	}
	for i := range c.Barred {
		b := &c.Barred[i]
		if b.Until != 0 {
			b.Until = b.Until.Add(-back)
		}
		if b.Dead != 0 {
			b.Dead = b.Dead.Add(-back)
		}
		m.barred[b.Key] = bar{b.Why, b.Until, b.Mark, b.Dead, b.Done}
	}
	for k, n := range c.Lies { // any order: it fills a map
		m.lies[k] = n
	}
	for _, about := range c.Warned {
		m.warned[about] = true
	}
	for i := range c.Parked {
		m.adoptWork(&c.Parked[i], back)
	}
}

// adoptWork goes on with a parked item. back is how far the clock was set back meanwhile.
func (m *Machine) adoptWork(l *leftWork, back time.Duration) {
	item, err := event.ItemOf(l.Item)
	w := &work{item: item, mark: l.Mark, token: l.Token, stage: working, since: l.Since.Add(-back), escalated: l.Asked, tree: l.Tree}
	for _, s := range m.sources {
		if s.Name == l.Source && s.itemKey(item.ID) == l.Key {
			w.source = s
		}
	}
	for _, a := range m.agents {
		if a.Name == l.Agent {
			w.agent = a
		}
	}
	if err != nil || w.source == nil || w.agent == nil || m.graph.Program.Workflow(l.Does) == nil {
		m.warn("", "item "+item.ID+" waits, and the loop does not have its source, agent or workflow any more: its claim stays")
		return
	}
	w.key, w.path = w.source.itemKey(item.ID), nodePath(item.ID)
	w.child = &event.StartChild{Run: l.Run, Node: w.path, Workflow: l.Does, Inputs: l.Inputs, Cause: m.causeOf(&item)}
	enter(w.child, w.tree)
	m.work = append(m.work, w)
	w.agent.busy++ // until it is known that the run still waits
	m.do(event.Command{StartChild: w.child})
	m.renew(w)
	m.beatSoon()
	m.show(event.Transition{Node: w.path, From: event.Pending, To: event.Waiting, Attempt: 1, Name: item.ID, Reason: "its run waits",
		WaitsFor: &event.WaitsFor{Kind: event.WaitChild, Name: l.Run}})
}

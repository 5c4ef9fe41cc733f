package machine

import (
	"fmt"
	"strconv"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// release lets the next child of an open group go, in file order.
func (m *Machine) release(t task) {
	below := m.below(t.ref)
	if t.cursor == len(below) {
		return
	}
	child := ref{t.ref.frame, below[t.cursor]}
	if t.ref.node == plan.None || !m.passOver(t.ref, child) {
		m.arrived(child, released)
	}
	t.cursor++
	m.agenda.push(t)
}

func (m *Machine) below(r ref) []int {
	if r.node == plan.None {
		if m.phase == closing {
			return m.graph.Finally
		}
		return m.graph.Top
	}
	return m.node(r).Below
}

// ready decides what becomes of a node once nothing is left to wait for: rule, condition and requirements, then its kind.
func (m *Machine) ready(r ref) {
	s := m.state(r)
	if s.status != event.Pending || s.queued || s.open {
		return // ended meanwhile, by a cancel or with its group
	}
	if m.halted(r) {
		m.finish(r, event.Cancelled, m.whyStopped())
		return
	}
	if m.wanted != nil && !m.wanted[r.node] {
		m.finish(r, event.Skipped, "it is not needed for the targets")
		return
	}
	if status, reason := m.ruled(r); status != "" {
		m.finish(r, status, reason)
		return
	}
	if !m.iteration(r) && (!m.goes(r) || !m.permitted(r)) {
		return
	}
	if !m.collector(r) && !m.iteration(r) && !m.watch(r) {
		return
	}
	n := m.node(r)
	switch {
	case m.collector(r):
		m.expand(r)
	case m.repeater(r):
		m.loop(r)
	case n.Kind != ir.Step:
		m.openGroup(r)
	case n.Value != nil:
		m.compute(r)
	case n.Wait != nil:
		m.pause(r)
	case n.End != nil:
		m.endRun(r)
	case n.Fail != nil:
		m.giveUp(r)
	default:
		m.queue(r)
	}
}

// goes asks a node's condition, of the whole or of each instance. Where it does not hold, the node is at its end.
func (m *Machine) goes(r ref) bool {
	n := m.node(r)
	if n.When == nil || m.instance(r) != n.WhenPerInstance {
		return true
	}
	holds, err := m.holds(n.When, m.scope(r))
	switch {
	case err != nil:
		m.fail(r, evaluation("when", err))
	case !holds:
		m.finish(r, event.Skipped, "its condition is false: "+n.When.Text)
	}
	return err == nil && holds
}

// openGroup lets a group's children go. The group itself starts with the first of them.
func (m *Machine) openGroup(r ref) {
	n, d, s := m.node(r), m.detail(r), m.state(r)
	if !m.bound(r) {
		return
	}
	if n.Kind == ir.Switch && !m.choose(r) || !m.joins(r) {
		return
	}
	s.open, d.remaining, d.total = true, len(n.Below), len(n.Below)
	if d.remaining == 0 {
		m.agenda.push(task{do: doCollect, ref: r})
		return
	}
	m.agenda.push(task{do: doRelease, ref: r})
}

// bound gives a node's own limiter to the whole of it, so that it holds over all instances and iterations, or fails it.
func (m *Machine) bound(r ref) bool {
	if n := m.node(r); n.MaxConcurrency == nil || n.Region != r.frame.region {
		return true
	}
	slots, err := m.number(m.node(r).MaxConcurrency, m.scope(r), 0, MaxConcurrency)
	if err != nil {
		m.fail(r, evaluation("max_concurrency", err))
		return false
	}
	m.detail(r).limit = &limiter{cap: slots}
	return true
}

// expand evaluates for_each and starts making instances.
func (m *Machine) expand(r ref) {
	n, d, s := m.node(r), m.detail(r), m.state(r)
	v, err := m.eval.Eval(n.ForEach, m.scope(r))
	if err == nil {
		d.items, d.keyed, err = items(v, n.ForEach.Type.Kind == value.SetT)
	}
	if err != nil {
		m.fail(r, evaluation("for_each", err))
		return
	}
	if !m.bound(r) || !m.joins(r) {
		return
	}
	s.open, d.remaining, d.total = true, len(d.items), len(d.items)
	if d.remaining == 0 {
		m.agenda.push(task{do: doCollect, ref: r})
		return
	}
	d.frames = make([]*frame, 0, len(d.items))
	m.agenda.push(task{do: doSpawn, ref: r})
}

// items lists what for_each runs over: a list by index, a set by its strings, a map by its keys in order.
func items(v value.Value, set bool) (list []item, keyed bool, err error) {
	keyed = set
	switch v := v.(type) {
	case []any:
		list = make([]item, len(v))
		for i, e := range v {
			list[i] = item{strconv.Itoa(i), e}
			if set {
				key, ok := e.(string)
				if !ok {
					return nil, false, fmt.Errorf("a set of strings is needed, but member %d is %s", i, value.Text(e))
				}
				list[i].key = key
			}
		}
	case map[string]any:
		keyed = true
		list = make([]item, 0, len(v))
		for _, k := range value.Keys(v) {
			list = append(list, item{k, v[k]})
		}
	default:
		return nil, false, fmt.Errorf("a list, a set of strings or a map is needed, but this is %.60s", value.Text(v))
	}
	if len(list) > MaxInstances {
		return nil, false, fmt.Errorf("%d instances are more than the limit of %d", len(list), MaxInstances)
	}
	return list, keyed, nil
}

// spawn makes the next instance.
func (m *Machine) spawn(t task) {
	s := m.state(t.ref)
	d := s.detail
	if s.status.Terminal() && !(d.join != nil && d.join.detached) || len(d.frames) == len(d.items) {
		return
	}
	at := len(d.frames)
	f := m.newFrame(&frame{region: m.node(t.ref).Body, up: t.ref.frame, key: d.items[at].key, index: at, each: d.items[at].each})
	d.frames = append(d.frames, f)
	m.arrived(ref{f, t.ref.node}, released)
	m.agenda.push(t)
}

// compute does a value step, which takes no time and no slot.
func (m *Machine) compute(r ref) {
	v, err := m.eval.Eval(m.node(r).Value, m.scope(r))
	if err == nil {
		err = sized(v)
	}
	d := m.detail(r)
	d.attempts = 1
	m.startParents(r)
	d.started = m.now
	if err != nil {
		m.fail(r, evaluation("value", err))
		return
	}
	d.output, d.computed = v, true
	m.deliver(r)
}

// pause starts a wait step's timer. A moment that has passed does not wait.
func (m *Machine) pause(r ref) {
	d := m.detail(r)
	d.attempts = 1
	due, err := m.until(m.node(r).Wait, m.scope(r))
	if err != nil {
		m.fail(r, evaluation("wait", err))
		return
	}
	if due <= m.now {
		m.startParents(r)
		d.started = m.now
		m.deliver(r)
		return
	}
	m.move(r, event.Waiting, "until "+due.String())
	m.setTimer(r, due, "wait")
}

// until is when a wait ends.
func (m *Machine) until(w *ir.Wait, sc *scope) (event.Time, error) {
	if w.At == nil {
		return m.due(w.Duration, sc)
	}
	text, err := m.text(w.At, sc)
	if err != nil {
		return 0, err
	}
	at, err := time.Parse(time.RFC3339, text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("a moment such as 2026-01-31T08:00:00Z is needed, but this is %q", text)
	case at.Year() > LastYear:
		return 0, fmt.Errorf("%s lies beyond the year %d", text, LastYear)
	case at.Before(m.now.Go()):
		return m.now, nil
	}
	return event.At(at), nil
}

// giveUp does a step that fails on purpose.
func (m *Machine) giveUp(r ref) {
	f, d := m.node(r).Fail, m.detail(r)
	d.attempts = 1
	m.startParents(r)
	d.started = m.now
	e := &event.Error{Kind: f.Kind, Reason: "fail", ExitCode: -1, Message: fmt.Sprintf("%q fails on purpose", m.node(r).Name)}
	if e.Kind == "" {
		e.Kind = event.Blocking
	}
	if f.Message != nil {
		text, err := m.text(f.Message, m.scope(r))
		if err != nil {
			e = evaluation("message", err)
		} else {
			e.Message = text
		}
	}
	m.fail(r, e)
}

// queue sends a step's action to its turn for slots.
func (m *Machine) queue(r ref) {
	d := m.detail(r)
	if g := m.agent(r); g != nil {
		d.agent = g.Name
		if !m.employ(r, g) {
			return
		}
	}
	m.try(r)
}

// startParents starts the groups that r lies in, from the outside in, if they have not started.
func (m *Machine) startParents(r ref) {
	p := m.parent(r)
	if p.node == plan.None || m.state(p).status != event.Pending {
		return
	}
	reason := ""
	if m.inner(p) {
		reason = m.way(p)
	}
	m.move(p, event.Running, reason)
	if n := m.node(p); n.Timeout != nil && n.Kind != ir.Step && m.inner(p) {
		due, err := m.due(n.Timeout, m.scope(p))
		if err != nil {
			m.doom(p, evaluation("timeout", err))
			return
		}
		m.setTimer(p, due, "timeout")
	}
}

// move changes a status that is not the last one, and starts what r lies in.
func (m *Machine) move(r ref, to event.Status, reason string) {
	m.startParents(r)
	s, d := m.state(r), m.detail(r)
	from := s.status
	assert(!from.Terminal(), "%s leaves %s", d.path, from)
	if d.started == 0 {
		d.started = m.now
	}
	s.status = to
	n := m.node(r)
	m.show(event.Transition{Node: d.path, From: from, To: to, Attempt: d.attempts, Reason: reason, Name: n.Name, Kind: string(n.Kind)})
}

// assert stops the run where a defect of ours shows; its journal stays as it is.
func assert(holds bool, format string, args ...any) {
	if !holds {
		panic("machine: " + fmt.Sprintf(format, args...))
	}
}

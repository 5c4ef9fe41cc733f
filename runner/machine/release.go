package machine

import (
	"fmt"
	"strconv"

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
	m.arrived(ref{t.ref.frame, below[t.cursor]}, plan.None, event.Succeeded)
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

// arrived tells r that one of the things that it waits for has come: node ended with a status, or (None) its parent let it go.
func (m *Machine) arrived(r ref, node int, status event.Status) {
	s := m.state(r)
	if node != plan.None && status.Bad() && s.bad == 0 {
		s.bad = int32(node) + 1
	}
	if s.waiting--; s.waiting == 0 {
		m.agenda.push(task{do: doReady, ref: r})
	}
}

// ready decides what becomes of a node once nothing is left to wait for: rule, then condition, then its kind.
func (m *Machine) ready(r ref) {
	s, n := m.state(r), m.node(r)
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
	if s.bad != 0 {
		m.finish(r, event.Blocked, m.because(r, int(s.bad)-1))
		return
	}
	instance := m.instance(r)
	if n.When != nil && instance == n.WhenPerInstance {
		holds, err := m.holds(n.When, m.scope(r))
		if err != nil {
			m.fail(r, evaluation("when", err))
			return
		}
		if !holds {
			m.finish(r, event.Skipped, "its condition is false: "+n.When.Text)
			return
		}
	}
	if !m.collector(r) && !m.watch(r) {
		return
	}
	switch {
	case m.collector(r):
		m.expand(r)
	case n.Kind != ir.Step:
		m.openGroup(r)
	case n.Value != nil:
		m.compute(r)
	case n.Wait != nil:
		m.pause(r)
	case n.End != nil:
		m.endRun(r)
	default:
		m.queue(r)
	}
}

// because says which need failed, and how.
func (m *Machine) because(r ref, needed int) string {
	o := m.outer(r.frame, needed)
	return fmt.Sprintf("it needs %q, which %s", m.graph.Nodes[needed].Name, verb(m.state(o).status))
}

// verb puts an end that is no success into words.
func verb(s event.Status) string {
	switch s {
	case event.FailedS:
		return "failed"
	case event.Blocked:
		return "is blocked"
	}
	return "was " + string(s)
}

// openGroup lets a group's children go. The group itself starts with the first of them.
func (m *Machine) openGroup(r ref) {
	n, d, s := m.node(r), m.detail(r), m.state(r)
	if n.MaxConcurrency != nil && n.ForEach == nil {
		if !m.bound(r) {
			return
		}
	}
	s.open, d.remaining = true, len(n.Below)
	if d.remaining == 0 {
		m.agenda.push(task{do: doCollect, ref: r})
		return
	}
	m.agenda.push(task{do: doRelease, ref: r})
}

// bound gives a group or for_each its own limiter, or fails it.
func (m *Machine) bound(r ref) bool {
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
	if n.MaxConcurrency != nil && !m.bound(r) {
		return
	}
	s.open, d.remaining = true, len(d.items)
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
	if s.status.Terminal() || len(d.frames) == len(d.items) {
		return
	}
	f := m.newFrame(m.node(t.ref).Body, t.ref.frame, len(d.frames), d.items[len(d.frames)])
	d.frames = append(d.frames, f)
	m.arrived(ref{f, t.ref.node}, plan.None, event.Succeeded)
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

// pause starts a wait step's timer.
func (m *Machine) pause(r ref) {
	due, err := m.due(m.node(r).Wait.Duration, m.scope(r))
	if err != nil {
		m.fail(r, evaluation("wait", err))
		return
	}
	m.detail(r).attempts = 1
	m.move(r, event.Waiting, "until "+due.String())
	m.setTimer(r, due, "wait")
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
	m.move(p, event.Running, "")
	if n := m.node(p); n.Timeout != nil && n.Kind != ir.Step && (n.ForEach == nil || m.instance(p)) {
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

package machine

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// position is a node in the state of the run. It gives package compose the values that the node's
// expressions read. It implements compose.State.
type position struct {
	m   *Machine
	ref ref // node None: the run itself
}

func (m *Machine) newScope(r ref) *compose.Scope {
	s := &struct {
		compose.Scope
		position
	}{position: position{m, r}} // in one piece, because the machine makes one for each evaluation
	s.Scope = m.composer.ScopeAt(&s.position, r.node)
	return &s.Scope
}

// Names resolves the names that the run's outputs can read, in the run's present state. It serves
// views of a replayed run.
func (m *Machine) Names() ir.Scope { return m.newScope(ref{m.root, plan.None}) }

// Verdict implements compose.State.
func (p *position) Verdict() compose.Verdict {
	v := p.m.runVerdict()
	return compose.Verdict{Status: v.status, Failed: p.m.failedNames(v.failed), Error: v.err, Started: p.m.started, Now: p.m.now, Usage: p.m.usage}
}

// failedNames returns run.failed. Failed nodes are only added, so one list grows with them.
func (m *Machine) failedNames(names []string) []any {
	for _, f := range names[min(len(names), len(m.failedSeen)):] {
		m.failedSeen = append(m.failedSeen, f)
	}
	return m.failedSeen[:len(names):len(names)]
}

// findNode returns the node that an expression reads; ok is false in the first iteration, which has no
// last one.
func (p *position) findNode(w compose.Which, node int) (r ref, ok bool) {
	switch w {
	case compose.Itself:
		return p.ref, true
	case compose.LastIteration:
		return p.m.lastIteration(p.ref.frame, node)
	case compose.Visible:
	}
	return p.m.outerRef(p.ref.frame, node), true
}

// lastIteration returns a node of the iteration before, in the nearest repeat that contains the
// node or is the node.
func (m *Machine) lastIteration(f *frame, node int) (r ref, ok bool) {
	n := &m.graph.Nodes[node]
	for ; f != nil; f = f.up {
		if f.iteration != 0 && (f.region == n.Region || f.region == n.Loop) {
			return ref{f.last, node}, f.last != nil
		}
	}
	return ref{}, false
}

// Read implements compose.State.
func (p *position) Read(w compose.Which, node int, attr string) value.Value {
	r, ok := p.findNode(w, node)
	if !ok {
		return nil
	}
	return p.m.readAttribute(r, attr)
}

// readAttribute returns one attribute of a node's result, or the whole object if attr is empty.
func (m *Machine) readAttribute(r ref, attr string) value.Value {
	switch attr {
	case "":
		return compose.ResultObject(func(attr string) value.Value { return m.readAttribute(r, attr) })
	case "output":
		return m.outputOf(r)
	case "instances":
		return m.readInstances(r)
	case "counts":
		if !m.isCollector(r) || m.state(r).liveState == nil {
			return nil
		}
		return m.countSoFar(r).Object()
	}
	s := m.state(r)
	res := compose.Result{Status: s.status}
	if d := s.liveState; d != nil {
		streams := d.streams
		if attr == "stdout" || attr == "stderr" {
			streams = m.wholeStreams(streams)
		}
		res = compose.Result{
			Status: s.status, Released: true, ExitCode: d.exit, Stdout: streams.stdout, Stderr: streams.stderr, Prints: m.runsProgram(r),
			Error: d.err, Attempts: d.attempts, Agent: d.agent, Started: d.started, Finished: d.finished, Now: m.now,
			Usage: d.usage(), Partial: d.partial, Escalated: d.escalated(),
		}
		if d.cold != nil {
			res.By = d.cold.by
		}
		if d.groupState != nil {
			res.Winner, res.Repeats, res.Iterations = d.winnerName(), d.loop != nil, d.iterations()
		}
	}
	return res.Attribute(attr)
}

// runsProgram reports whether the node's attempts are programs, or work of an agent.
func (m *Machine) runsProgram(r ref) bool {
	switch m.node(r).Action.(type) {
	case *ir.Run, *ir.AgentTask:
		return true
	}
	return false
}

// readInstances returns the results of all instances of a for_each, in a list or by key.
func (m *Machine) readInstances(r ref) value.Value {
	s := m.state(r)
	if !m.isCollector(r) || !s.open {
		return nil
	}
	if v := m.instanceSeen.findList(r); v != nil {
		return v
	}
	v := m.listInstances(r, s.liveState)
	if s.status.Terminal() && m.instancesEnded(r, s.liveState) {
		m.instanceSeen.addList(r, v)
	}
	return v
}

// instanceLists caches the lists of instances that expressions read last as a whole. It holds lists
// of a for_each only after all its instances have ended. Few programs need a list, because reading
// one instance needs none.
type instanceLists struct {
	of   [8]ref
	list [8]value.Value
	next int
}

func (l *instanceLists) findList(r ref) value.Value {
	for i := range l.of {
		if l.of[i] == r {
			return l.list[i]
		}
	}
	return nil
}

func (l *instanceLists) addList(r ref, v value.Value) {
	l.of[l.next], l.list[l.next] = r, v
	l.next = (l.next + 1) % len(l.of)
}

// instancesEnded reports whether all instances were made and have ended. The losers of a join may
// go on after the for_each.
func (m *Machine) instancesEnded(r ref, d *liveState) bool {
	return len(d.frames) == len(d.items) &&
		!slices.ContainsFunc(d.frames, func(f *frame) bool { return !m.state(ref{f, r.node}).status.Terminal() })
}

func (m *Machine) listInstances(r ref, d *liveState) value.Value {
	list, byKey := make([]any, len(d.frames)), make(map[string]any, len(d.frames))
	for i, f := range d.frames {
		o := m.readAttribute(ref{f, r.node}, "")
		list[i], byKey[f.key] = o, o
	}
	if d.keyed {
		return byKey
	}
	return list
}

// HasInstances implements compose.State.
func (p *position) HasInstances(w compose.Which, node int) bool {
	r, ok := p.findNode(w, node)
	return ok && p.m.isCollector(r) && p.m.state(r).open
}

// Instance implements compose.State.
func (p *position) Instance(w compose.Which, node int, key value.Value, attr string) (value.Value, bool) {
	r, ok := p.findNode(w, node)
	if !ok {
		return nil, false
	}
	d := p.m.liveState(r)
	at, ok := d.instanceAt(key)
	if !ok {
		return nil, false
	}
	return p.m.readAttribute(ref{d.frames[at], r.node}, attr), true
}

// instanceAt returns the number of the instance with an index or a key, if that instance was made.
func (d *liveState) instanceAt(key value.Value) (at int, ok bool) {
	switch key := key.(type) {
	case float64:
		if key < 0 {
			key += float64(len(d.frames))
		}
		at = int(key)
		return at, !d.keyed && float64(at) == key && at >= 0 && at < len(d.frames)
	case string:
		if !d.keyed {
			return 0, false
		}
		at, ok = slices.BinarySearchFunc(d.items[:len(d.frames)], key, func(i item, key string) int { return strings.Compare(i.key, key) })
		return at, ok
	}
	return 0, false
}

// Own implements compose.State.
func (p *position) Own() (own compose.Own, released bool) {
	d := p.m.state(p.ref).liveState
	own.Healed = p.m.healedAround(p.ref)
	if d == nil {
		return own, false
	}
	own.Attempts, own.Error = d.attempts, d.err
	own.Feedback = p.m.feedbackOf(p.ref)
	if d.cold != nil {
		own.Recalled = d.cold.recalled
	}
	return own, true
}

// OwnOutput implements compose.State.
func (p *position) OwnOutput() value.Value {
	if d := p.m.state(p.ref).liveState; d != nil {
		return p.m.resolve(d.output)
	}
	return nil
}

// HasMembers implements compose.State.
func (p *position) HasMembers(w compose.Which, node int) bool {
	r, ok := p.findNode(w, node)
	if !ok {
		return false
	}
	_, ok = p.m.keptOutput(r).(*longList)
	return ok
}

// Member implements compose.State.
func (p *position) Member(w compose.Which, node int, key value.Value) (value.Value, bool) {
	r, _ := p.findNode(w, node)
	v, ok := p.m.keptOutput(r).(*longList).member(key)
	return p.m.resolve(v), ok
}

// Each implements compose.State.
func (p *position) Each() (key, item value.Value, ok bool) {
	f := p.ref.frame
	for f.iteration > 0 {
		f = f.up
	}
	if f.up == nil {
		return nil, nil, false
	}
	collector := ref{f.up, p.m.graph.Regions[f.region].Owner}
	if p.m.liveState(collector).keyed {
		return f.key, f.each, true
	}
	return float64(f.index), f.each, true
}

// Iteration implements compose.State.
func (p *position) Iteration() int {
	for f := p.ref.frame; f != nil; f = f.up {
		if f.iteration > 0 {
			return f.iteration
		}
	}
	return 0
}

// Counts implements compose.State.
func (p *position) Counts() compose.Counts { return p.m.countSoFar(p.ref) }

// countSoFar counts the ends of a node's children or instances, as a join sees them.
func (m *Machine) countSoFar(r ref) compose.Counts {
	d := m.liveState(r)
	t := &d.tally
	return compose.Counts{Total: d.total, Done: d.total - d.remaining, Succeeded: int(t.succeeded),
		Failed: int(t.failed + t.blocked + t.cancelled), Skipped: int(t.skipped)}
}

// Outputs implements compose.State.
func (p *position) Outputs() value.Value { return p.m.gatherSoFar(p.ref) }

// describeWork describes the work of a node for package compose.
func (m *Machine) describeWork(r ref) *compose.Work {
	d := m.liveState(r)
	w := &compose.Work{Node: m.node(r), Path: d.path, Agent: m.agentOf(r), Attempt: max(1, d.attempts), Generation: d.generation(),
		Feedback: m.feedbackOf(r), Now: m.now, Scope: m.newScope(r)}
	return w
}

// generation returns the generation of the node's work.
func (d *liveState) generation() int {
	if d.cold == nil {
		return 0
	}
	return d.cold.generation
}

// composeAttempt computes an attempt of a node, or of one of its gates.
func (m *Machine) composeAttempt(s slotRequest) (*event.Attempt, *event.Error) {
	w := m.describeWork(s.ref)
	if s.gate != work {
		w.Scope.Mode = compose.InGate
		if w.Node.Gates[s.gate].Review != nil {
			return m.composeReview(s.ref, w, s.gate)
		}
		return m.composer.Gate(w, w.Node.Gates[s.gate])
	}
	var err *event.Error
	if w.Admission, err = m.admissionOf(s.ref, w.Node.Quotas, w.Agent); err != nil {
		return nil, err
	}
	m.sendClassify(s.ref, w.Admission)
	request, err := m.composer.Attempt(w)
	if err == nil {
		m.enterSession(s.ref, request)
	}
	return request, err
}

// evalDue evaluates a duration and adds it to now.
func (m *Machine) evalDue(e *ir.Expr, sc *compose.Scope) (event.Time, error) {
	d, err := m.composer.Duration(e, sc)
	return m.now.Add(d), err
}

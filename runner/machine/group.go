package machine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/slots"
)

// openGroup releases a group's children. The group itself starts with the first of them.
func (m *Machine) openGroup(r ref) {
	n, d, s := m.node(r), m.liveState(r), m.state(r)
	if !m.ensureNodeLimiter(r) {
		return
	}
	if n.Kind == ir.Switch && !m.chooseCase(r) || !m.openJoin(r) {
		return
	}
	s.open, d.remaining, d.total = true, len(n.Below), len(n.Below)
	if d.remaining == 0 {
		m.collectLater(r)
		return
	}
	m.agenda.push(task{do: doRelease, ref: r})
}

// ensureNodeLimiter makes the limiter of a node with max_concurrency, shared by all instances and
// iterations. It fails the node and returns false if the bound cannot be evaluated.
func (m *Machine) ensureNodeLimiter(r ref) bool {
	node := m.node(r)
	if node.MaxConcurrency == nil && len(node.Adapt) == 0 || node.Region != r.frame.region {
		return true
	}
	n, err := m.composer.Count(node.MaxConcurrency, m.newScope(r), limits.MaxConcurrency, limits.MaxConcurrency)
	if err != nil {
		m.failNode(r, compose.EvaluationError("max_concurrency", err))
		return false
	}
	l := slots.NewLimiter[slotRequest](n)
	m.liveState(r).limit = l
	if err := m.setRules(r, node.Adapt, l); err != nil {
		m.failNode(r, err)
		return false
	}
	return true
}

// chooseCase evaluates the cases of a switch in order, once, and takes the first that holds. The
// default has no condition. A case that cannot be evaluated fails the switch, because going on
// with the next case would be a guess.
func (m *Machine) chooseCase(r ref) bool {
	n, sc := m.node(r), m.newScope(r)
	for i := range n.Cases {
		holds := n.Cases[i].When == nil
		if !holds {
			var err error
			if holds, err = m.composer.Condition(n.Cases[i].When, sc); err != nil {
				m.failNode(r, compose.EvaluationError(fmt.Sprintf("case %d", i+1), err))
				return false
			}
		}
		if holds {
			m.liveState(r).taken = i + 1
			break
		}
	}
	m.liveState(r).way = m.describeCase(r, sc)
	return true
}

// caseReason returns the reason for the case that a switch took.
func (m *Machine) caseReason(r ref) string {
	if m.node(r).Kind != ir.Switch {
		return ""
	}
	return m.liveState(r).way
}

// maxAsked limits the number of false cases of a switch in a reason.
const maxAsked = 8

// describeCase puts the choice of a switch into words. The switch calls it once, not once per
// child.
func (m *Machine) describeCase(r ref, sc *compose.Scope) string {
	n, taken := m.node(r), m.liveState(r).taken
	if taken > 0 && n.Cases[taken-1].When != nil {
		return fmt.Sprintf("case %d holds: %s", taken, n.Cases[taken-1].When.Text)
	}
	text := "no case holds"
	if taken > 0 {
		text += ", so the default is taken"
	}
	var asked []string
	for i := range n.Cases[:min(len(n.Cases), maxAsked)] {
		if n.Cases[i].When != nil {
			asked = append(asked, m.composer.ExplainCondition(n.Cases[i].When, sc))
		}
	}
	if len(asked) == 0 {
		return text
	}
	return text + ": " + strings.Join(asked, "; ")
}

// skipOtherCase skips a child of a case that was not taken. It reports whether r is such a child.
func (m *Machine) skipOtherCase(group, r ref) bool {
	if n := m.node(group); n.Kind != ir.Switch || m.node(r).Case == m.liveState(group).taken {
		return false
	}
	if !m.state(r).status.Terminal() {
		m.finishNode(r, event.Skipped, m.caseReason(group))
	}
	return true
}

// expandForEach evaluates for_each and starts to make instances.
func (m *Machine) expandForEach(r ref) {
	n, d, s := m.node(r), m.liveState(r), m.state(r)
	v, err := m.composer.Value(n.ForEach, m.newScope(r))
	if err == nil {
		d.items, d.keyed, err = listItems(v, n.ForEach.Type.Kind == value.SetT)
	}
	if err != nil {
		m.failNode(r, compose.EvaluationError("for_each", err))
		return
	}
	if !m.ensureNodeLimiter(r) || !m.openJoin(r) {
		return
	}
	s.open, d.remaining, d.total = true, len(d.items), len(d.items)
	if d.remaining == 0 {
		m.collectLater(r)
		return
	}
	d.frames = make([]*frame, 0, len(d.items))
	if first := (slotRequest{r, work}); n.Kind == ir.Step && m.isSlotless(first) { // they all start now
		most := len(d.items)
		if m.isKV(first) {
			most = min(most, m.kv.Run().Capacity())
		}
		m.out.Transitions, m.out.Commands = slices.Grow(m.out.Transitions, most), slices.Grow(m.out.Commands, most)
	}
	m.agenda.push(task{do: doSpawn, ref: r})
}

// listItems lists the items of a for_each: a list by index, a set by its strings, a map by its
// keys in order.
func listItems(v value.Value, set bool) (list []item, keyed bool, err error) {
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
	if len(list) > limits.MaxInstances {
		return nil, false, fmt.Errorf("%d instances are more than the limit of %d", len(list), limits.MaxInstances)
	}
	return list, keyed, nil
}

// itemMembers are the members of an object that can name it, the first that it has.
var itemMembers = []string{"name", "id", "title"}

// itemName names the item of an instance for people: the value, the member of an object that names it, or else the beginning of the value. An
// instance by key has its name in its path.
func (m *Machine) itemName(r ref) string {
	if !m.isInstance(r) || m.liveState(m.parent(r)).keyed {
		return ""
	}
	v := r.frame.each
	if object, ok := v.(map[string]any); ok {
		for _, name := range itemMembers {
			if member, ok := object[name]; ok {
				v = member
				break
			}
		}
	}
	if v == float64(r.frame.index) { // its key
		return ""
	}
	switch v := v.(type) {
	case string:
		if text := []rune(v); len(text) > event.MaxItem-2 {
			v = string(text[:event.MaxItem-3]) + "…"
		}
		return string(value.Append(nil, v))
	case float64, bool:
		if text := value.Text(v); text != r.frame.key {
			return text
		}
	case map[string]any, []any:
		text := []rune(string(begin(nil, v, 0)))
		if len(text) == len("{}") {
			return ""
		}
		if len(text) > event.MaxItem {
			return string(text[:event.MaxItem-1]) + "…"
		}
		return string(text)
	}
	return ""
}

// begin appends the beginning of a value as JSON, some more than the name of an item may have, without what lies deeper than a member.
func begin(out []byte, v value.Value, depth int) []byte {
	const enough = 4 * event.MaxItem // a character has up to 4 bytes
	next := func(i int) bool {
		if i > 0 {
			out = append(out, ',')
		}
		return len(out) < enough
	}
	switch v := v.(type) {
	case map[string]any:
		if depth > 0 && len(v) > 0 {
			return append(out, "{…}"...)
		}
		out = append(out, '{')
		for i, k := range value.Keys(v) {
			if !next(i) {
				break
			}
			out = begin(append(begin(out, k, 1), ':'), v[k], depth+1)
		}
		return append(out, '}')
	case []any:
		if depth > 0 && len(v) > 0 {
			return append(out, "[…]"...)
		}
		out = append(out, '[')
		for i, e := range v {
			if !next(i) {
				break
			}
			out = begin(out, e, depth+1)
		}
		return append(out, ']')
	case string:
		if len(v) > enough {
			v = strings.ToValidUTF8(v[:enough], "")
		}
		return value.Append(out, v)
	}
	return value.Append(out, v)
}

// membersOf returns the number of instances of a for_each; 0 for other nodes.
func (m *Machine) membersOf(r ref) int {
	if s := m.state(r); m.node(r).ForEach != nil && !m.isInstance(r) && s.liveState != nil && s.groupState != nil {
		return len(s.items)
	}
	return 0
}

// makeInstance makes the next instance.
func (m *Machine) makeInstance(t task) {
	s := m.state(t.ref)
	d := s.liveState
	if s.status.Terminal() && !(d.join != nil && d.join.detached) || len(d.frames) == len(d.items) {
		return
	}
	at := len(d.frames)
	f := m.newFrame(&frame{region: m.node(t.ref).Body, up: t.ref.frame, key: d.items[at].key, index: at, each: d.items[at].each})
	d.frames = append(d.frames, f)
	m.noteDependency(ref{f, t.ref.node}, released)
	m.agenda.push(t)
}

// collectLater puts the end of a group or a for_each on the agenda.
func (m *Machine) collectLater(r ref) {
	m.liveState(r).ends = true
	m.agenda.push(task{do: doCollect, ref: r})
}

// endGroup ends a group or a for_each after its last child, or after its join was decided. The
// first of these decides: the error that ended it early, its join, the worst end of its children.
// Otherwise the group succeeds with the outputs of its children. A repeat decides about its next
// iteration.
func (m *Machine) endGroup(r ref) {
	s := m.state(r)
	d, t := s.liveState, &s.tally
	d.ends = false
	if s.status.Terminal() {
		return
	}
	switch k := d.reusedEnd(); {
	case k == nil:
	case m.isHalted(r):
		m.finishNode(r, event.Cancelled, m.whyStopped())
		return
	case k.Status.Bad():
		m.endReused(r, k)
		return
	}
	switch {
	case d.endError != nil:
		m.endEarly(r)
		return
	case d.loop != nil:
		m.endIteration(r)
		return
	case d.join != nil:
		if m.endJoined(r) {
			return
		}
	}
	switch {
	case t.failed > t.tolerated:
		m.failNode(r, &event.Error{Kind: event.Recoverable, Reason: event.ReasonChild, ExitCode: -1, Message: t.describeBad()})
		return
	case t.cancelled > 0:
		m.finishNode(r, event.Cancelled, t.describeBad())
		return
	case t.blocked > 0:
		m.finishNode(r, event.Blocked, t.describeBad())
		return
	}
	d.output = m.gatherOutputs(r)
	m.deliverOutput(r)
}

// gatherSoFar caches the result of [Machine.gatherOutputs] for the condition of a join. Every end
// then adds its output. The condition returns a bool, so nothing else keeps the value.
func (m *Machine) gatherSoFar(r ref) value.Value {
	d := m.liveState(r)
	if d.gathered == nil {
		d.gathered = m.readAnew(m.gatherOutputs(r))
	}
	return d.gathered
}

// addOutput adds the output of an ended child or instance to the gathered outputs.
func (m *Machine) addOutput(d *liveState, child ref) {
	switch all := d.gathered.(type) {
	case []any:
		all[child.frame.index] = m.outputOf(child)
	case map[string]any:
		if _, there := all[m.memberName(child)]; there { // children of other cases are not in the object
			all[m.memberName(child)] = m.outputOf(child)
		}
	}
}

// gatherOutputs returns the output of a group or a for_each: by child name, by index, or by key. A
// child without an output has null.
func (m *Machine) gatherOutputs(r ref) value.Value {
	n, d := m.node(r), m.liveState(r)
	if d.gathered != nil {
		return d.gathered
	}
	return keepTogether(m.listOutputs(r, n, d))
}

// listOutputs is gatherOutputs with members that can be long.
func (m *Machine) listOutputs(r ref, n *plan.Node, d *liveState) value.Value {
	if !m.isCollector(r) {
		out := make(map[string]any, len(n.Below))
		for _, child := range n.Below {
			if c := &m.graph.Nodes[child]; n.Kind != ir.Switch || c.Case == d.taken {
				out[c.Name] = m.keptOutput(ref{r.frame, child})
			}
		}
		return out
	}
	if !d.keyed {
		out := make([]any, d.total)
		for i, f := range d.frames {
			out[i] = m.keptOutput(ref{f, r.node})
		}
		return out
	}
	out := make(map[string]any, d.total)
	for _, i := range d.items {
		out[i.key] = nil
	}
	for _, f := range d.frames {
		out[f.key] = m.keptOutput(ref{f, r.node})
	}
	return out
}

// outputOf returns the output of a node that has ended, including the output of degrade.
func (m *Machine) outputOf(r ref) value.Value { return m.resolve(m.keptOutput(r)) }

// keptOutput is outputOf as the machine keeps it: it can be an [event.Long].
func (m *Machine) keptOutput(r ref) value.Value {
	if s := m.state(r); s.status.Terminal() && s.liveState != nil {
		return s.output
	}
	return nil
}

// endUnreleased ends the children of a group that ended before their release, one child per task.
func (m *Machine) endUnreleased(t task) {
	below := m.childrenOf(t.ref)
	if t.cursor == len(below) {
		return
	}
	if child := (ref{t.ref.frame, below[t.cursor]}); !m.state(child).status.Terminal() {
		status, reason := t.status, t.reason
		switch status {
		case event.FailedS:
			status = event.Blocked
		case event.Cancelled:
			status, reason = m.unstartedEnd(child, reason)
		}
		m.finishNode(child, status, reason)
	}
	t.cursor++
	m.agenda.push(t)
}

// tally counts the ends of children or instances by status. Failures that were tolerated are among
// the failed.
type tally struct {
	succeeded, failed, tolerated, skipped, blocked, cancelled int32
	firstBad                                                  string
}

func (t *tally) countEnd(s event.Status, tolerated bool, path string) {
	switch s {
	case event.Succeeded:
		t.succeeded++
	case event.FailedS:
		t.failed++
	case event.Skipped:
		t.skipped++
	case event.Blocked:
		t.blocked++
	case event.Cancelled:
		t.cancelled++
	}
	switch {
	case tolerated:
		t.tolerated++
	case s.Bad() && t.firstBad == "":
		t.firstBad = path
	}
}

// countBad returns the number of ends that fail the parent.
func (t *tally) countBad() int32 { return t.failed - t.tolerated + t.blocked + t.cancelled }

// describeBad describes the ends that fail the parent.
func (t *tally) describeBad() string {
	return joinCounts("nothing", namedCount{t.failed - t.tolerated, "failed"}, namedCount{t.blocked, "blocked"}, namedCount{t.cancelled, "cancelled"}) +
		"; first " + t.firstBad
}

// describeAll describes all ends.
func (t *tally) describeAll() string {
	return joinCounts("nothing ended", namedCount{t.succeeded, "succeeded"}, namedCount{t.failed, "failed"}, namedCount{t.skipped, "skipped"},
		namedCount{t.blocked, "blocked"}, namedCount{t.cancelled, "cancelled"})
}

// repeatState is the state of a repeat. The current frame keeps the frame before it, and no older
// one.
type repeatState struct {
	most   int // how many iterations the file allows
	max    int // how many there may be: an escalation can allow others
	count  int // iterations begun
	frame  *frame
	winner string // of the last iteration
}

func (b *groupState) iterations() int {
	if b.loop == nil {
		return 0
	}
	return b.loop.count
}

// openRepeat begins a repeat.
func (m *Machine) openRepeat(r ref) {
	most, err := m.composer.Count(&m.node(r).Repeat.Max, m.newScope(r), 0, limits.MaxIterations)
	if err != nil {
		m.failNode(r, compose.EvaluationError("repeat.max", err))
		return
	}
	if !m.ensureNodeLimiter(r) {
		return
	}
	s := m.state(r)
	s.open = true
	m.liveState(r).loop = &repeatState{most: most, max: most}
	m.agenda.push(task{do: doIterate, ref: r})
}

// makeIteration makes the next iteration.
func (m *Machine) makeIteration(r ref) {
	s := m.state(r)
	if s.status.Terminal() {
		return
	}
	l := s.loop
	l.count++
	if l.frame != nil {
		l.frame.last = nil
	}
	f := m.newFrame(&frame{region: m.node(r).Loop, up: r.frame, iteration: l.count, last: l.frame})
	l.frame = f
	s.remaining, s.tally, s.cause = 1, tally{}, cause{}
	if s.status == event.Waiting {
		m.moveNode(r, event.Running, "")
	}
	m.noteDependency(ref{f, r.node}, released)
}

// endIteration decides after an iteration whether another one follows. None follows a cancelled or
// blocked iteration, because the next would end in the same way.
func (m *Machine) endIteration(r ref) {
	d := m.state(r).liveState
	l, n := d.loop, m.node(r)
	last, why := ref{l.frame, r.node}, d.cause
	d.cause = cause{} // only the cause of the last iteration counts
	status := m.state(last).status
	switch {
	case status == event.Cancelled || status == event.Blocked:
		d.cause = why
		m.finishNode(r, status, fmt.Sprintf("iteration %d %s", l.count, statusPhrase(status)))
		return
	case m.isHalted(r):
		m.finishRepeat(r, last, why)
		return
	case m.behaviour[ir.EndingRepeatsNothing] && m.isEnding(r):
		m.endCancelled(r)
		return
	case l.count < l.max && m.askedForBetter(last):
	case n.Repeat.Gated:
		m.finishRepeat(r, last, why)
		return
	case n.Repeat.Until == nil:
		if status == event.FailedS || l.count == l.max {
			m.finishRepeat(r, last, why)
			return
		}
	default:
		sc := m.newScope(last)
		sc.Mode = compose.AfterEnd
		holds, err := m.composer.Condition(n.Repeat.Until, sc)
		switch {
		case err != nil:
			of := m.state(last).liveState
			m.copyIteration(d, of)
			e := compose.EvaluationError("until", err)
			if status == event.FailedS {
				e.Message += fmt.Sprintf("; iteration %d failed: %s", l.count, of.err.Message)
			}
			m.failWork(r, e)
			return
		case holds:
			m.finishRepeat(r, last, why)
			return
		case l.count == l.max:
			m.copyIteration(d, m.state(last).liveState)
			message := fmt.Sprintf("after %d iterations its condition until is still false: %s", l.count, m.composer.ExplainCondition(n.Repeat.Until, sc))
			if m.behaviour[ir.FeedbackNamesTheReviewer] && m.isRounds(r) {
				message = m.describeUnaccepted(last, l.count)
			}
			m.failWork(r, &event.Error{Kind: event.Recoverable, Reason: event.ReasonLimit, ExitCode: -1, Message: message})
			return
		}
	}
	if spent, _ := m.spentAround(r, oneAttempt, false); spent != nil {
		m.copyIteration(d, m.state(last).liveState)
		m.failWork(r, spent)
		return
	}
	m.scheduleIteration(r)
}

// isRounds reports whether a repeated group has the rounds of a feedback: the product and its review.
func (m *Machine) isRounds(r ref) bool {
	n := m.node(r)
	if p := m.graph.Nodes[r.node].Parent; n.Pattern != patternFeedback && (p == plan.None || m.graph.Nodes[p].Pattern != patternFeedback) {
		return false
	}
	return len(n.Below) == 2
}

// patternFeedback is the pattern of a node that the file has as a feedback.
const patternFeedback = "feedback"

// describeUnaccepted says that the work of a feedback was not accepted in its rounds, and what the reviewer said in the last one.
func (m *Machine) describeUnaccepted(last ref, count int) string {
	said := fmt.Sprintf("the work was not accepted in %d rounds", count)
	if count == 1 {
		said = "the work was not accepted in its only round"
	}
	for at := range m.node(last).Below {
		c, _ := m.childAt(last, at)
		d := m.liveState(c)
		switch status := m.state(c).status; {
		case status == event.FailedS && d.err != nil:
			return fmt.Sprintf("%s: in the last round, %s failed: %s", said, m.node(c).Name, d.err.Message)
		case status == event.Succeeded && at == 1:
			return fmt.Sprintf("%s: reviewer %q answered in the last round: %s", said, d.agent, event.Bound(value.Text(m.resolve(d.output)), maxSaid))
		}
	}
	return said
}

// askedForBetter reports whether gates refused an iteration of a group, and all of them asked for
// better work.
func (m *Machine) askedForBetter(last ref) bool {
	s := m.state(last)
	return m.node(last).Kind != ir.Step && s.status == event.FailedS && s.wasRejected(s.err) && !s.cold.refused
}

// finishRepeat ends a repeat with the end of its last iteration.
func (m *Machine) finishRepeat(r, last ref, why cause) {
	d, from := m.liveState(r), m.state(last)
	m.copyIteration(d, from.liveState)
	d.err, d.output, d.cause = from.err, from.output, why
	if from.status == event.FailedS && m.escalationOf(r) != nil {
		err := *from.err
		m.failWork(r, &err)
		return
	}
	m.finishNode(r, from.status, "")
}

// copyIteration copies the result of the last iteration to its repeat.
func (m *Machine) copyIteration(d, from *liveState) {
	d.exit, d.streams, d.attempts, d.agent, d.partial = from.exit, from.streams, from.attempts, from.agent, from.partial
	if from.groupState != nil {
		d.loop.winner = from.winnerName()
	}
}

// scheduleIteration makes the next iteration after the delay in the file.
func (m *Machine) scheduleIteration(r ref) {
	delay := m.node(r).Repeat.Delay
	if delay == nil {
		m.agenda.push(task{do: doIterate, ref: r})
		return
	}
	due, err := m.evalDue(delay, m.newScope(ref{m.state(r).loop.frame, r.node}))
	if err != nil {
		m.failNode(r, compose.EvaluationError("repeat.delay", err))
		return
	}
	m.moveNode(r, event.Waiting, fmt.Sprintf("iteration %d starts at %s", m.state(r).loop.count+1, due))
	m.setTimer(r, due, event.TimerRepeat)
}

package machine

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// dependencyEnd is the end of a dependency of a node, or (node None) the release by its parent.
type dependencyEnd struct {
	node      int
	needs     bool
	status    event.Status
	tolerated bool
}

// released is the release by the parent.
var released = dependencyEnd{node: plan.None}

// triggerState counts the ends of the dependencies of a node with a trigger_rule. For a node
// without a rule, state.bad alone decides.
type triggerState struct {
	released                                   bool
	total                                      int32
	succeeded, failed, skipped, tolerated, bad int32 // failed: any failure; bad: those not tolerated
}

func (c *triggerState) countEnd(e dependencyEnd) {
	switch {
	case e.node == plan.None:
		c.released = true
	case e.status == event.Succeeded:
		c.succeeded++
	case e.status == event.Skipped:
		c.skipped++
	case e.tolerated:
		c.failed++
		c.tolerated++
	default:
		c.failed++
		c.bad++
	}
}

// trigger returns nil for a node without a trigger_rule.
func (s *state) trigger() *triggerState {
	if s.liveState == nil || s.cold == nil {
		return nil
	}
	return s.cold.rule
}

// holdsEarly reports whether a rule holds before all dependencies have ended.
func (c *triggerState) holdsEarly(rule ir.TriggerRule) bool {
	return c.released && (rule == ir.OneSuccess && c.succeeded > 0 || rule == ir.OneFailed && c.failed > 0)
}

// noteDependency records the end of a dependency of r, or the release of r.
func (m *Machine) noteDependency(r ref, e dependencyEnd) {
	s := m.state(r)
	s.waiting--
	early, judged := false, e.needs
	if c := s.trigger(); c != nil {
		judged = true
		c.countEnd(e)
		early = c.holdsEarly(m.node(r).TriggerRule)
	}
	if judged && e.node != plan.None && e.status.Bad() && !e.tolerated && s.bad == 0 {
		s.bad = int32(e.node) + 1
	}
	if (s.waiting == 0 || early) && !s.fired {
		s.fired = true
		m.agenda.push(task{do: doReady, ref: r})
	}
}

// checkRule checks a node's rule when no later end can change the answer. An empty status means
// that the node may start.
func (m *Machine) checkRule(r ref) (status event.Status, reason string) {
	s := m.state(r)
	c, holds := s.trigger(), true
	if c == nil {
		if s.bad != 0 {
			return event.Blocked, m.describeNeed(r, int(s.bad)-1)
		}
		return "", ""
	}
	rule := m.node(r).TriggerRule
	switch rule {
	case ir.NoneFailed, ir.AllSuccess:
		if s.bad != 0 {
			return event.Blocked, m.describeNeed(r, int(s.bad)-1)
		}
		holds = rule == ir.NoneFailed || c.skipped == 0
	case ir.AllFailed:
		holds = c.failed == c.total
	case ir.OneSuccess:
		holds = c.succeeded > 0
	case ir.OneFailed:
		holds = c.failed > 0
	case ir.AllDone, ir.Always:
	default:
		assert(false, "%s has the unknown trigger_rule %q", m.path(r), rule)
	}
	if holds {
		return "", ""
	}
	return event.Skipped, fmt.Sprintf("its rule %s does not hold: of what it waits for %s", rule, c.describeEnds()+m.describeBlockers(r, rule))
}

// maxBlockers limits the number of nodes in the reason for a false rule.
const maxBlockers = 4

// describeBlockers lists the dependencies that keep a rule from holding, in brackets; "" if the
// counts say enough.
func (m *Machine) describeBlockers(r ref, rule ir.TriggerRule) string {
	var names []string
	for _, a := range m.node(r).Awaits {
		s := m.state(m.outerRef(r.frame, a.Node))
		well := rule == ir.NoneFailed && !s.status.Bad() || rule == ir.AllSuccess && s.status == event.Succeeded ||
			rule == ir.AllFailed && s.status.Bad()
		if well {
			continue
		}
		if len(names) == maxBlockers {
			names = append(names, "…")
			break
		}
		names = append(names, fmt.Sprintf("%q %s", m.graph.Nodes[a.Node].Name, s.status))
	}
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

func (c *triggerState) describeEnds() string {
	return joinCounts("nothing is there", namedCount{c.succeeded, "succeeded"}, namedCount{c.failed, "failed"}, namedCount{c.skipped, "skipped"})
}

// describeNeed says how a needed node failed.
func (m *Machine) describeNeed(r ref, needed int) string {
	o := m.state(m.outerRef(r.frame, needed))
	status := o.status
	switch {
	case status.Terminal():
	case o.liveState != nil && o.groupState != nil && o.tally.failed > o.tally.tolerated: // a failed instance stops the others
		status = event.FailedS
	default: // the node is barred too
		status = event.Blocked
	}
	return fmt.Sprintf("it needs %q, which %s", m.graph.Nodes[needed].Name, statusPhrase(status))
}

// statusPhrase puts an end without success into words.
func statusPhrase(s event.Status) string {
	switch s {
	case event.FailedS:
		return "failed"
	case event.Blocked:
		return "is blocked"
	}
	return "was " + string(s)
}

type namedCount struct {
	n    int32
	word string
}

// joinCounts writes counts down, without those that are 0.
func joinCounts(none string, counts ...namedCount) string {
	var parts []string
	for _, c := range counts {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.word))
		}
	}
	if parts == nil {
		return none
	}
	return strings.Join(parts, ", ")
}

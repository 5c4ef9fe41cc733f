package machine

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// ending is one of the things that a node waits for: a node that ended, or (None) its parent that let it go.
type ending struct {
	node      int
	needs     bool
	status    event.Status
	tolerated bool
}

// released is the parent's word.
var released = ending{node: plan.None}

// ruling counts for a node whose trigger_rule is written how the nodes that it waits for ended. Without one, the first
// failure among the needed is all that counts, and state.bad has that.
type ruling struct {
	released                                   bool
	total                                      int32
	succeeded, failed, skipped, tolerated, bad int32 // failed: any failure; bad: those not tolerated
}

func (c *ruling) count(e ending) {
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

// ruling is nil of a node whose rule is not written, as of most.
func (s *state) ruling() *ruling {
	if s.detail == nil || s.rare == nil {
		return nil
	}
	return s.rare.rule
}

// early tells that a rule holds before all have ended.
func (c *ruling) early(rule ir.TriggerRule) bool {
	return c.released && (rule == ir.OneSuccess && c.succeeded > 0 || rule == ir.OneFailed && c.failed > 0)
}

// arrived tells r that one of the things that it waits for has come.
func (m *Machine) arrived(r ref, e ending) {
	s := m.state(r)
	s.waiting--
	early, judged := false, e.needs
	if c := s.ruling(); c != nil {
		judged = true
		c.count(e)
		early = c.early(m.node(r).TriggerRule)
	}
	if judged && e.node != plan.None && e.status.Bad() && !e.tolerated && s.bad == 0 {
		s.bad = int32(e.node) + 1
	}
	if (s.waiting == 0 || early) && !s.fired {
		s.fired = true
		m.agenda.push(task{do: doReady, ref: r})
	}
}

// ruled asks a node's rule once nothing is left that could change the answer. An empty status means that it may go.
func (m *Machine) ruled(r ref) (status event.Status, reason string) {
	s := m.state(r)
	c, holds := s.ruling(), true
	if c == nil {
		if s.bad != 0 {
			return event.Blocked, m.because(r, int(s.bad)-1)
		}
		return "", ""
	}
	rule := m.node(r).TriggerRule
	switch rule {
	case ir.NoneFailed, ir.AllSuccess:
		if s.bad != 0 {
			return event.Blocked, m.because(r, int(s.bad)-1)
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
	return event.Skipped, fmt.Sprintf("its rule %s does not hold: of what it waits for %s", rule, c.words()+m.against(r, rule))
}

// maxAgainst bounds how many nodes are named that a rule does not hold of.
const maxAgainst = 4

// against names those of what a node waits for that keep its rule from holding, in brackets; "" where that is plain.
func (m *Machine) against(r ref, rule ir.TriggerRule) string {
	var names []string
	for _, a := range m.node(r).Awaits {
		s := m.state(m.outer(r.frame, a.Node))
		well := rule == ir.NoneFailed && !s.status.Bad() || rule == ir.AllSuccess && s.status == event.Succeeded ||
			rule == ir.AllFailed && s.status.Bad()
		if well {
			continue
		}
		if len(names) == maxAgainst {
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

func (c *ruling) words() string {
	return list("nothing is there", count{c.succeeded, "succeeded"}, count{c.failed, "failed"}, count{c.skipped, "skipped"})
}

// because says which need failed, and how.
func (m *Machine) because(r ref, needed int) string {
	o := m.state(m.outer(r.frame, needed))
	status := o.status
	switch {
	case status.Terminal():
	case o.detail != nil && o.body != nil && o.tally.failed > o.tally.tolerated: // the failure of an instance of it stops all
		status = event.FailedS
	default: // it is barred, too
		status = event.Blocked
	}
	return fmt.Sprintf("it needs %q, which %s", m.graph.Nodes[needed].Name, verb(status))
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

type count struct {
	n    int32
	word string
}

// list writes counts down, without those that are 0.
func list(none string, counts ...count) string {
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

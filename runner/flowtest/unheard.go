package flowtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// A test that lets something happen of which no run takes notice proves less than it says. So it fails.

// injected is an event, or a check-in, that the test has made.
type injected struct {
	*ir.Moment
	id string // of the event
}

// noteInjected notes what a block of the test has published. An event that was published before is not published again: its key proves
// that, and nobody can hear it.
func (t *test) noteInjected(m *ir.Moment, answer value.Value) {
	published, _ := answer.(map[string]any)
	if again, _ := published["duplicate"].(bool); again {
		return
	}
	id, _ := published["id"].(string)
	t.injected = append(t.injected, injected{m, id})
}

// noteGiven notes that a run was given an event.
func (rec *record) noteGiven(s *seen, x *event.External) {
	whole, err := x.Whole()
	if err != nil {
		return // the run stops with the same error
	}
	o, _ := whole.Data.(map[string]any)
	id, _ := o["id"].(string)
	if rec.got[id] == nil {
		rec.got[id] = map[string]bool{}
	}
	rec.got[id][s.workflow] = true
}

// comesTooLate fails the test if a block happens when no run is left that could notice, and no other block starts one.
func (t *test) comesTooLate(m *ir.Moment) bool {
	switch m.Kind {
	case ir.AskMoment, ir.StartMoment, ir.RetryMoment, ir.RedriveMoment:
		return false
	}
	if m.Kind == ir.EmitMoment && m.Of == "" && t.starts(m.Name) {
		return false
	}
	if t.driven || t.hasRoutines() || slices.ContainsFunc(t.coming, func(c ir.Moment) bool {
		return c.Kind == ir.StartMoment || c.Kind == ir.RetryMoment || c.Kind == ir.RedriveMoment
	}) {
		return false
	}
	t.unheard(m, "All runs of the test had ended.")
	return true
}

func (t *test) unheard(m *ir.Moment, why string) {
	t.fail(Failure{Kind: Unheard, At: m.At, Text: strings.TrimSpace(string(m.Kind) + " " + quoted(m.Name)), Message: why, After: m.After})
}

func quoted(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("%q", name)
}

// tellUnheard fails the test for each event that no step waited for, and for each check-in at a point at which no step asked.
func (t *test) tellUnheard() {
	if len(t.missing) > 0 {
		return // the test did not get so far
	}
	for _, in := range t.injected {
		switch {
		case in.Kind == ir.CheckInMoment && !t.points[in.Name]:
			t.unheard(in.Moment, "No step asked at this sync point."+known(keysOf(t.points)))
		case in.Kind == ir.EmitMoment && !t.wasHeard(in):
			t.unheard(in.Moment, t.whyUnheard(in))
		}
	}
}

// wasHeard reports whether a run was given an event that has reached a step that waits for its name.
func (t *test) wasHeard(in injected) bool {
	if t.delivered[in.id] {
		return true
	}
	for workflow := range t.got[in.id] { // any order: one is enough
		for _, node := range t.waitingFor(workflow, in.Name) {
			if t.reached[Point{workflow, NodePoint, node}] {
				return true
			}
		}
	}
	return false
}

func (t *test) whyUnheard(in injected) string {
	names := map[string]bool{}
	for _, s := range t.order {
		for _, name := range t.waitsOf(s.workflow) {
			names[name] = true
		}
	}
	switch {
	case len(t.got[in.id]) > 0:
		return "A run received the event, but never reached the step that waits for it."
	case names[in.Name]:
		return "No run that waits for this event was live then."
	}
	return "No run waits for an event of this name." + known(keysOf(names))
}

// known lists the names that the steps of the test use; it is "" if there are none.
func known(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(" The steps name %s.", strings.Join(names[:min(len(names), MaxNamed)], ", "))
}

// MaxNamed bounds the names in a message.
const MaxNamed = 10

// waitsOf lists the names of the events that steps of a workflow wait for.
func (t *test) waitsOf(workflow string) (names []string) {
	if g, err := t.program.graph(workflow); err == nil {
		names = g.Events()
	}
	return names
}

// waitingFor lists the steps of a workflow that wait for an event.
func (t *test) waitingFor(workflow, name string) (steps []string) {
	g, err := t.program.graph(workflow)
	if err != nil {
		return nil
	}
	for i := range g.Nodes {
		if w, is := g.Nodes[i].Action.(*ir.Wait); is && w.Event == name {
			steps = append(steps, g.Nodes[i].Name)
		}
	}
	return steps
}

func keysOf(set map[string]bool) []string {
	names := []string{}
	for name := range set { // any order: sorted below
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

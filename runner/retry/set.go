package retry

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/view"
)

// Set is what a step comes to in the new run because a person says so.
type Set struct {
	Step   string // its name or path
	Output value.Value
}

// setSteps finds the steps that the wish sets. They count as succeeded, and what depends on them runs again.
func (s *survey) setSteps(w Wish, targets []string) error {
	for _, set := range w.Set {
		if number := s.graph.Number(view.Base(set.Step)); len(targets) > 0 && number != plan.None && !s.asked[number] {
			return &Refusal{fmt.Sprintf("run %s was asked for %s, and %q is not needed for that", s.run.ID, strings.Join(targets, ", "), set.Step), Without, ""}
		}
		n, err := s.setStep(set.Step)
		if err != nil {
			return err
		}
		if _, twice := s.set[n]; twice {
			return &Refusal{fmt.Sprintf("%q is set twice", n.Path), Without, ""}
		}
		g := &s.graph.Nodes[s.number(n)]
		output, wrong := value.Convert(set.Output, s.outputType(g))
		if wrong != nil {
			return &Refusal{fmt.Sprintf("the output does not fit %q: %s", n.Path, wrong), JSONText, n.Path}
		}
		s.set[n] = &event.Reused{Status: event.Succeeded, Output: output, By: w.By, Set: true}
		if text, isText := output.(string); isText && g.Action.Kind() == ir.RunAction {
			s.set[n].Stdout = text
		}
	}
	return nil
}

// outputType is the type of the output of a step. Agents of a pool may differ, so that only what the step declares counts there.
func (s *survey) outputType(g *plan.Node) value.Type {
	switch {
	case g.Output != nil:
		return *g.Output
	case g.Own != nil && g.Own.Agent != nil && g.Own.Agent.Output != nil && g.Else == nil && len(g.Others) == 0:
		return *g.Own.Agent.Output
	}
	return s.graph.Program.OutputType(g.Action)
}

// setStep is the step of a name or path.
func (s *survey) setStep(word string) (*view.Node, error) {
	refuse := func(format string, args ...any) (*view.Node, error) {
		return nil, &Refusal{fmt.Sprintf(format, args...), Without, ""}
	}
	number := s.graph.Number(view.Base(word))
	if number == plan.None {
		return refuse("there is no step %q", word)
	}
	g := &s.graph.Nodes[number]
	switch {
	case g.Kind != ir.Step:
		return refuse("%q is a %s, and only a step can be set", word, g.Kind)
	case len(s.graph.Finally) > 0 && number >= s.graph.Finally[0]:
		return refuse("%q belongs to finally, which runs at the end of every run", word)
	case ends(g):
		return refuse("%q ends the run, and cannot be set", word)
	}
	for up := g.Parent; up != plan.None; up = s.graph.Nodes[up].Parent {
		if s.graph.Nodes[up].Loop != plan.None {
			return refuse("%q is inside the repeat %q, which runs as a whole", word, s.graph.Nodes[up].Name)
		}
	}
	var found, instances []*view.Node
	s.each(func(n *view.Node) {
		switch {
		case s.number(n) != number:
		case n.Path == word, word == n.Name && s.leaf(n) && !instance(n):
			found = append(found, n)
		}
		if s.number(n) == number && s.leaf(n) {
			instances = append(instances, n)
		}
	})
	if len(found) == 1 && s.leaf(found[0]) {
		return found[0], nil
	}
	if len(instances) == 0 {
		return refuse("run %s has no instance of %q", s.run.ID, word)
	}
	names := make([]string, 0, MaxNamed)
	for _, n := range instances[:min(len(instances), MaxNamed)] {
		names = append(names, n.Path)
	}
	return refuse("%q does not name one step; run %s has %s", word, s.run.ID, strings.Join(names, ", "))
}

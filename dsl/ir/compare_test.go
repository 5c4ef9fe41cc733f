package ir

import (
	"slices"
	"testing"
)

// Nodes are compared by their paths, without the nodes below them, and declarations by their names.
func TestCompare(t *testing.T) {
	step := func(name string, attempts int) Node {
		return Node{Name: name, Kind: Step, Action: &Value{Expr{Text: name}}, Retry: &Retry{MaxAttempts: &Expr{Const: float64(attempts)}}}
	}
	group := func(children ...Node) Node { return Node{Name: "group", Kind: Parallel, Children: children} }
	a := &Program{Agents: []Agent{{Name: "sam"}, {Name: "kim"}}, Files: map[string]string{"x": "1"},
		Workflows: []Workflow{{Name: "w", Nodes: []Node{group(step("one", 1), step("two", 1)), step("gone", 1)}}}}
	b := &Program{Agents: []Agent{{Name: "kim"}}, Files: map[string]string{"x": "2"},
		Workflows: []Workflow{{Name: "w", Description: "new", Nodes: []Node{group(step("one", 2), step("two", 1), step("three", 1))}, Finally: &Finally{Nodes: []Node{step("last", 1)}}}}}
	d := Compare(a, "w", b, "w")
	for what, list := range map[string][2][]string{
		"nodes":        {names(d.Nodes), {"changed group/one [retry]", "added group/three []", "added last []", "removed gone []"}},
		"declarations": {names(d.Declarations), {"changed  [description finally]", "changed file x [text]", "removed agent sam []"}},
	} { // any order: each on its own
		if !slices.Equal(list[0], list[1]) {
			t.Errorf("the %s that differ are %q, want %q", what, list[0], list[1])
		}
	}
	if d.Same || !Compare(a, "w", a, "w").Same || len(Compare(nil, "w", b, "w").Nodes) != 5 {
		t.Error("same:", d.Same, Compare(a, "w", a, "w"))
	}
}

func names(list []Change) (out []string) {
	for _, c := range list {
		text := c.What + " " + c.Name + " ["
		for i, p := range c.Parts {
			if i > 0 {
				text += " "
			}
			text += p
		}
		out = append(out, text+"]")
	}
	return out
}

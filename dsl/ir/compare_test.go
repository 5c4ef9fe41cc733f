package ir

import (
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/value"
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

// A new name is told from a new part: its body is that of one part that was removed, and of no other.
func TestCompareNames(t *testing.T) {
	step := func(name, does string) Node {
		return Node{Name: name, Kind: Step, Action: &Value{Expr{Text: does}}}
	}
	input := func(name string, secret bool) Variable { return Variable{Name: name, Sensitive: secret} }
	a := &Program{Workflows: []Workflow{{Name: "w", Inputs: []Variable{input("where", false), input("key", true)},
		Outputs: []Output{{Name: "key"}}, Nodes: []Node{step("build", "1"), step("one", "2"), step("two", "2"), step("kept", "3")}}, {Name: "gone"}}}
	b := &Program{Agents: []Agent{{Name: "kim"}}, Workflows: []Workflow{{Name: "new"}, {Name: "w", Inputs: []Variable{input("target", false), input("key", false)},
		Outputs: []Output{{Name: "secret"}}, Nodes: []Node{step("compile", "1"), step("three", "2"), step("also", "3"), step("kept", "3")}}}}
	all, declared := ComparePrograms(a, b)
	for name, want := range map[string][]string{
		"w":    {"renamed output secret [] from output key", "changed input key [sensitive]", "renamed input target [] from input where", "renamed compile [] from build", "added three []", "added also []", "removed one []", "removed two []"},
		"gone": {"removed  []"}, "new": {"added  []"},
	} { // any order: each on its own
		have := append(names(all[name].Declarations), names(all[name].Nodes)...)
		slices.Sort(have)
		slices.Sort(want)
		if !slices.Equal(have, want) {
			t.Errorf("workflow %s: %q, want %q", name, have, want)
		}
	}
	if len(all) != 3 || !slices.Equal(names(declared), []string{"added agent kim []"}) {
		t.Errorf("%d workflows, and beside them %q", len(all), names(declared))
	}
}

// A change has the values of both sides, cut around the difference; sensitive ones are masked.
func TestCompareValues(t *testing.T) {
	long := strings.Repeat("long ", 20)
	text := func(s string) *Expr { return Lit(s, value.Type{Kind: value.StringT}) }
	program := func(attempts float64, script, condition, key string, needs ...string) *Program {
		return &Program{Variables: []Variable{{Name: "key", Sensitive: true, HasDefault: true, Default: key}}, Workflows: []Workflow{{Name: "w", Nodes: []Node{{Name: "s", Kind: Step,
			Needs: needs, When: &Expr{Kind: Condition, Text: condition}, Retry: &Retry{MaxAttempts: Lit(attempts, value.Type{Kind: value.NumberT})},
			Env: map[string]*Expr{"KEY": {Kind: HCL, Text: "key." + key, Sensitive: true}}, Action: &Run{Script: text(script)}}}}}}
	}
	all, declared := ComparePrograms(program(2, long+"old"+long, "a < 1", "hunter2"), program(3, long+"<new>"+long, "a < 2", "hunter3", "one", "two"))
	show := func(c Change) (list []string) {
		for _, v := range c.Values {
			list = append(list, v.Part+": "+v.Before+" → "+v.After)
		}
		return list
	}
	have, want := show(all["w"].Nodes[0]), []string{"env.KEY: (sensitive) → (sensitive)", `needs:  → ["one", "two"]`, "retry.max_attempts: 2 → 3",
		"run.script: …g long long oldlong long long long long long long long lon… → …g long long <new>long long long long long long long long l…", "when: a < 1 → a < 2"}
	if !slices.Equal(have, want) {
		t.Errorf("the values of the step are\n%q, want\n%q", have, want)
	}
	if have, want := show(declared[0]), []string{"default: (sensitive) → (sensitive)"}; !slices.Equal(have, want) {
		t.Errorf("the values of the variable are %q, want %q", have, want)
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
		if text += "]"; c.From != "" {
			text += " from " + c.From
		}
		out = append(out, text)
	}
	return out
}

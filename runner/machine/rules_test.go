package machine

import (
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/plan"
)

// The machine has the rules of its run, and of no other.
func TestMachineHasTheRulesOfItsRun(t *testing.T) {
	const planted ir.Rule = "planted"
	g, err := plan.Build(&ir.Program{Workflows: []ir.Workflow{{Name: "w"}}}, "w")
	if err != nil {
		t.Fatal(err)
	}
	for number, rules := range map[int]ir.Rules{1: ir.RulesOf(1), 2: {planted: true}} {
		if m := New(g, nil, rules); m.behaviour[planted] != (number == 2) {
			t.Errorf("number %d: the rule holds: %v", number, m.behaviour[planted])
		}
	}
}

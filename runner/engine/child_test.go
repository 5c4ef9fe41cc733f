package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// A child has its parent's variables, the secret ones by reference, and inputs of its own.
func TestChildsSecrets(t *testing.T) {
	parent := Start{First: event.RunStarted{Vars: map[string]value.Value{"region": "here"},
		Inputs:  map[string]value.Value{"tag": "v1"},
		Late:    map[string]event.Late{"auth": {}},
		Secrets: map[string]event.Secret{"var.token": {From: "--var"}, "input.pin": {From: "--input"}}}}
	c := Child(parent, event.StartChild{Run: "c", Inputs: map[string]value.Value{"n": 1.0}, Late: map[string]event.Late{"key": {What: "x"}}})
	want := event.RunStarted{Run: "c", Vars: parent.First.Vars, Inputs: map[string]value.Value{"n": 1.0},
		Late: map[string]event.Late{"key": {What: "x"}}, Secrets: map[string]event.Secret{"var.token": {From: "--var"}}, Depth: 1}
	if diff := cmp.Diff(want, c.First); diff != "" {
		t.Error(diff)
	}
	if len(parent.First.Secrets) != 2 {
		t.Error("the parent lost a secret")
	}
}

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

// A child knows the events that led to its caller, and what started it, if that was not the call.
func TestChildsCause(t *testing.T) {
	parent := Start{First: event.RunStarted{Cause: &event.Cause{Kind: event.CauseEvent, Name: "e", ID: "ev-2", Events: []string{"ev-1", "ev-2"}}}}
	if diff := cmp.Diff(&event.Cause{Events: []string{"ev-1", "ev-2"}}, Child(parent, event.StartChild{Run: "c"}).First.Cause); diff != "" {
		t.Error(diff)
	}
	own := &event.Cause{Kind: event.CauseLoop, Name: "l", ID: "item"}
	if got := Child(parent, event.StartChild{Run: "c", Cause: own}).First.Cause; got != own {
		t.Errorf("the cause is %+v", got)
	}
}

// The id of a run that something causes depends on each part, and on where a part ends.
func TestRunIDOf(t *testing.T) {
	seen := map[string][]string{}
	for _, parts := range [][]string{nil, {""}, {"a"}, {"b"}, {"a", "b"}, {"ab"}, {"a", "", "b"}, {"a", "b", ""}, {"1:a"}} {
		id := RunIDOf(parts...)
		if err := CheckID(id); err != nil || len(id) != len(NewID()) || id != RunIDOf(parts...) {
			t.Errorf("%q gives %q: %v", parts, id, err)
		}
		if other, is := seen[id]; is {
			t.Errorf("%q and %q give %q", parts, other, id)
		}
		seen[id] = parts
	}
}

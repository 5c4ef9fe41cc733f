package event

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/value"
)

// shownOnly are the fields of commands that a digest leaves out, each with the reason.
var shownOnly = map[string]string{
	"Attempt.Base":          "it repeats the environment of run_started",
	"AgentRequest.Recalled": "the host puts it there; the answer says what it was",
	"SetTimer.Purpose":      "the world waits the same for any purpose",
	"Late.What":             "a text for people",
	"Late.Message":          "a text for people",
	"CancelChild.Reason":    "a text for people",
	"EndAsk.Why":            "a text for people",
	"CancelAttempt.Reason":  "a text for people",
	"SourceRequest.Dry":     "a preview sets it, which has no journal",
	"Error.Message":         "a text for people",
	"End.Usage":             "the sum of what the answers say",
}

// TestDigestCoversCommands changes each part of each kind of command, at any depth. The digest must change with it, unless the part
// belongs to a field of the table above; then the digest must stay.
func TestDigestCoversCommands(t *testing.T) {
	seen := map[string]bool{}
	each(t, func(kind string, c *Command) {
		r := &Reaction{Commands: []Command{*c}}
		before, parts := r.AppendDigest(nil), 0
		alter(reflect.ValueOf(&r.Commands[0]).Elem(), nil, func(way []string) {
			parts++
			shown := false
			for _, field := range way {
				seen[field] = true
				shown = shown || shownOnly[field] != ""
			}
			if same := bytes.Equal(r.AppendDigest(nil), before); same != shown {
				t.Errorf("%s: a change leaves the digest as it is: %v, want %v", strings.Join(way, " "), same, shown)
			}
		})
		if parts < 2 {
			t.Errorf("of a %s only %d parts were changed", kind, parts)
		}
	})
	for field := range shownOnly {
		if !seen[field] {
			t.Errorf("commands have no field %s", field)
		}
	}
}

func TestDigestLeavesTransitionsOut(t *testing.T) {
	r := filled[Reaction](t)
	before := r.AppendDigest(nil)
	r.Transitions = nil
	if len(before) == 0 || !bytes.Equal(r.AppendDigest(nil), before) {
		t.Error("the digest covers transitions")
	}
}

// TestDigestTellsApart has reactions whose facts, written one after the other without lengths and ends, would be the same.
func TestDigestTellsApart(t *testing.T) {
	seen := map[string]int{}
	for i, r := range []Reaction{
		{Commands: []Command{{Start: &Attempt{Argv: []string{"a", "b"}}}}},
		{Commands: []Command{{Start: &Attempt{Argv: []string{"a"}, Values: []string{"b"}}}}},
		{Commands: []Command{{Start: &Attempt{Argv: []string{"avb"}}}}},
		{Commands: []Command{{Start: &Attempt{Argv: []string{"a", ""}}}}},
		{Commands: []Command{{Start: &Attempt{Argv: []string{"a"}}}}},
		{Commands: []Command{{Start: &Attempt{Env: map[string]string{"a": "b", "c": ""}}}}},
		{Commands: []Command{{Start: &Attempt{Env: map[string]string{"a": "b"}, Argv: []string{"c"}}}}},
		{Commands: []Command{{Start: &Attempt{}}, {Start: &Attempt{Argv: []string{"a"}}}}},
		{Commands: []Command{{Start: &Attempt{Stdin: new(string)}}}},
		{Commands: []Command{{Start: &Attempt{}}}},
		{Commands: []Command{{Cancel: &CancelAttempt{Ticket: 1}}, {Cancel: &CancelAttempt{Node: "a"}}}},
		{Commands: []Command{{Cancel: &CancelAttempt{Ticket: 1, Node: "a"}}, {Cancel: &CancelAttempt{}}}},
		{Commands: []Command{{StartChild: &StartChild{Inputs: map[string]value.Value{"a": nil}}}}},
		{Commands: []Command{{StartChild: &StartChild{Inputs: map[string]value.Value{"a": "null"}}}}},
		{Commands: []Command{{StartChild: &StartChild{Inputs: map[string]value.Value{"a": nil, "b": nil}}}}},
		{Commands: []Command{{StartChild: &StartChild{Late: map[string]Late{"a": {Names: map[string]value.Value{"b": nil}}}}}}},
		{Commands: []Command{{StartChild: &StartChild{Late: map[string]Late{"a": {}, "b": {}}}}}},
		{Commands: []Command{{Start: &Attempt{Late: []Late{{Rules: []Late{{}}}}}}}},
		{Commands: []Command{{Start: &Attempt{Late: []Late{{}, {}}}}}},
		{Commands: []Command{{Start: &Attempt{HTTP: &HTTPRequest{Expect: []int{200, 201}}}}}},
		{Commands: []Command{{Start: &Attempt{HTTP: &HTTPRequest{Expect: []int{200}}}}}},
		{Commands: []Command{{Start: &Attempt{HTTP: &HTTPRequest{Headers: map[string]string{"a": ""}}}}}},
	} {
		k := string(r.AppendDigest(nil))
		if j, twice := seen[k]; twice {
			t.Errorf("reactions %d and %d have the same facts", j, i)
		}
		seen[k] = i
	}
}

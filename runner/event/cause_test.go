package event_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/runner/event"
)

// The cause of a run is what its first event says, in this order.
func TestCauseOf(t *testing.T) {
	at := event.Time(1_700_000_000_000_000_000)
	routine := &event.Cause{Kind: event.CauseRoutine, Name: "nightly", ScheduledAt: at, Events: []string{"ev-1"}}
	for _, c := range []struct {
		first event.RunStarted
		want  event.Cause
	}{
		{event.RunStarted{}, event.Cause{Kind: event.CauseManual}},
		{event.RunStarted{Parent: "p", ParentNode: "call", RetryOf: "r"}, event.Cause{Kind: event.CauseCall, Name: "call", ID: "p"}},
		{event.RunStarted{RetryOf: "r"}, event.Cause{Kind: event.CauseRetry, ID: "r"}},
		{event.RunStarted{Cause: routine, Parent: "p"}, *routine},
		{event.RunStarted{Cause: event.CallCause(&event.RunStarted{Cause: routine}), Parent: "p", ParentNode: "n"},
			event.Cause{Kind: event.CauseCall, Name: "n", ID: "p", Events: []string{"ev-1"}}},
		{event.RunStarted{Cause: event.RetryCause("r", &event.RunStarted{Cause: routine}), RetryOf: "r"},
			event.Cause{Kind: event.CauseRetry, Name: "nightly", ID: "r", ScheduledAt: at, Events: []string{"ev-1"}}},
	} {
		if diff := cmp.Diff(&c.want, c.first.CauseOf()); diff != "" {
			t.Error(diff)
		}
		b, err := json.Marshal(c.first)
		if err != nil {
			t.Fatal(err)
		}
		var back event.RunStarted
		if err := json.Unmarshal(b, &back); err != nil || !cmp.Equal(back.CauseOf(), &c.want) {
			t.Errorf("%s was read as %+v, %v", b, back.CauseOf(), err)
		}
	}
}

func TestCauseKinds(t *testing.T) {
	var words []string
	for _, k := range event.CauseKinds {
		words = append(words, string(k))
	}
	if !slices.Equal(words, schema.CauseKinds) {
		t.Errorf("the language knows %q, runs are caused by %q", schema.CauseKinds, words)
	}
}

// A command that gives a run another cause is another command.
func TestCauseInDigest(t *testing.T) {
	digest := func(c *event.Cause) string {
		r := event.Reaction{Commands: []event.Command{{StartChild: &event.StartChild{Run: "r", Cause: c}}}}
		return string(r.AppendDigest(nil))
	}
	seen := map[string]bool{digest(nil): true}
	for _, c := range []event.Cause{{Kind: event.CauseLoop}, {Kind: event.CauseEvent}, {Kind: event.CauseLoop, Name: "n"}, {Kind: event.CauseLoop, ID: "n"},
		{Kind: event.CauseLoop, Source: "n"}, {Kind: event.CauseLoop, At: 1}, {Kind: event.CauseLoop, ScheduledAt: 1}, {Kind: event.CauseLoop, Events: []string{"n"}},
		{Kind: event.CauseLoop, Handoff: &event.Handoff{To: "n"}}, {Kind: event.CauseLoop, Handoff: &event.Handoff{Next: "n"}}} {
		if d := digest(&c); seen[d] {
			t.Errorf("%+v has the digest of another cause", c)
		} else {
			seen[d] = true
		}
	}
}

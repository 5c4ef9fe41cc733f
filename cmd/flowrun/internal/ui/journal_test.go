package ui

import (
	"bytes"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// A timer that was overtaken, and an answer that came twice, are told as what they are, and a node's name cannot move the cursor.
func TestDroppedEntries(t *testing.T) {
	for want, ev := range map[string]event.Event{
		"timer 4 of x\\x1b[2J: backoff  dropped: its node has moved on\n": {Seq: 9, TimerFired: &event.TimerFired{Timer: 4, Node: "x\x1b[2J"}},
		"dropped: it came late or twice\n":                                {Seq: 9, AttemptFinished: &event.AttemptFinished{Node: "a", Attempt: 1, Outcome: event.OK}},
	} {
		var out bytes.Buffer
		EntryLines(NewTerm(&out, "never", func(string) string { return "" }), &view.Entry{Event: ev, Why: "backoff", Dropped: true})
		if have := out.String(); !strings.HasSuffix(have, want) {
			t.Errorf("have %q", have)
		}
	}
}

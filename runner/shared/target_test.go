package shared

import (
	"testing"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// A target of a loop is an event where somebody waits for it, and nothing else.
func TestTargetIsTold(t *testing.T) {
	for _, waits := range []bool{false, true} {
		rows := new(Map)
		if waits {
			if err := rows.Put(runSpace(TargetEvent), "r", nil); err != nil {
				t.Fatal(err)
			}
		}
		data := map[string]value.Value{"loop": "l", "target": "idle", "state": "missed"}
		a, err := applyLoop(rows, &event.LoopRequest{Operation: event.LoopTarget, Loop: "l", Target: data}, Waiter{Run: "x"}, 5)
		if err != nil || (len(a.Posts) == 1) != waits {
			t.Fatalf("waits %v: %v, posts %v", waits, err, a.Posts)
		}
		if waits && a.Posts[0].Run != "r" {
			t.Error(a.Posts)
		}
	}
}

package ui

import (
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// How long a node still waits is counted from now, not from when it began to; what is overdue is nobody's any more.
func TestWhatIsLeftOfAWait(t *testing.T) {
	now := event.Time(0).Add(time.Hour)
	for left, want := range map[time.Duration]string{
		48 * time.Hour: " (2d00h to go)", 8 * time.Second: " (8s to go)",
		89600 * time.Millisecond: " (1m30s to go)", 400 * time.Millisecond: "", -400 * time.Millisecond: "", -3 * time.Minute: " (was due 3m00s ago)",
	} {
		if have := toGo(&view.Node{Status: event.Waiting, Due: now.Add(left)}, now); have != want {
			t.Errorf("%v: %q", left, have)
		}
	}
	for _, n := range []view.Node{{Status: event.Waiting}, {Status: event.Running, Due: now.Add(time.Minute)}} {
		if have := toGo(&n, now); have != "" {
			t.Errorf("%+v: %q", n, have)
		}
	}
}

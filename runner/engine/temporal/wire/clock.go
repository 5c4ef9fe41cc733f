package wire

import (
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// Clock is the time of runs: that of the server. Tests let it go faster from a moment on, so that a step that waits for a minute takes
// seconds.
type Clock struct {
	From  time.Time
	Times int // 0: as fast as the server's
}

// At is the time of runs at a time of the server.
func (c Clock) At(t time.Time) event.Time {
	if c.Times > 1 && t.After(c.From) {
		t = c.From.Add(t.Sub(c.From) * time.Duration(c.Times))
	}
	return event.At(t)
}

// Wait is how long the server waits for a span of the time of runs.
func (c Clock) Wait(d time.Duration) time.Duration {
	if c.Times > 1 {
		d = (d + time.Duration(c.Times) - 1) / time.Duration(c.Times)
	}
	return max(d, time.Millisecond)
}

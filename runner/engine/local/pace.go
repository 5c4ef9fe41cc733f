package local

import (
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// pace is the time of one run: the clock's, but never before the run's last event, and never standing still. Where the
// clock was set back, by hand or by a machine that was restored, the run's time goes on from where it was at the speed of a
// stopwatch; else a backoff of a second would last until the clock is where it has been.
type pace struct {
	clock  Clock
	now    event.Time
	looked time.Time // with a monotonic reading, if the clock has one
}

func newPace(c Clock, last event.Time) pace { return pace{clock: c, now: last, looked: c.Now()} }

// readClock looks at the clock.
func (p *pace) readClock() event.Time {
	t := p.clock.Now()
	passed := max(t.Sub(p.looked), 0)
	p.now, p.looked = max(event.At(t), p.now.Add(passed)), t
	return p.now
}

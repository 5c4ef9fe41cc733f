package engine

import (
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// pace is the time of one run: the clock's, but never before the run's last event, and never standing still. Where the
// clock was set back, by hand or by a machine that was restored, the run's time goes on from where it was at the speed of a
// stopwatch; else a backoff of a second would last until the clock is where it has been.
type pace struct {
	now    event.Time
	looked time.Duration // by the stopwatch
}

func (p *pace) read(clock event.Time, stopwatch time.Duration) event.Time {
	passed := max(stopwatch-p.looked, 0)
	p.now, p.looked = max(clock, p.now.Add(passed)), stopwatch
	return p.now
}

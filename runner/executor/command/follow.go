package command

import (
	"fmt"
	"maps"

	"github.com/flowrun/flowrun/runner/event"
)

// LogName is the name of the log file of one stream of an attempt, below Options.LogDir: RUN/TICKET-NAME-ATTEMPT.STREAM. A
// ticket is used once in a run.
func LogName(a *event.Attempt, stream string) string {
	return fmt.Sprintf("%s/%06d-%s-%d.%s", safe(a.Run), a.Ticket, safe(a.Name), a.Attempt, stream)
}

// Follow says of which runs somebody reads what attempts write while they write it. Then all of it goes to log files at
// once, what was said before included; otherwise there is a file only for what the journal has no room for. It is safe to be
// called at any time.
func (x *Executor) Follow(runs map[string]bool) {
	if before := x.followed.Load(); before != nil && maps.Equal(*before, runs) || before == nil && len(runs) == 0 {
		return
	}
	x.followed.Store(&runs)
	x.mu.Lock()
	defer x.mu.Unlock()
	for s := range x.busy { // any order: each looks for itself
		s.wake()
	}
}

func (x *Executor) follows(run string) bool {
	runs := x.followed.Load()
	return runs != nil && (*runs)[run]
}

// engage notes a slot whose child can be woken.
func (x *Executor) engage(s *slot) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.busy == nil {
		x.busy = map[*slot]bool{}
	}
	x.busy[s] = true
}

func (x *Executor) disengage(s *slot) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.busy, s)
}

// attend begins the log of a stream that somebody has begun to follow, if anything was said.
func (c *capture) attend() {
	if c.total > 0 && c.followed() {
		c.keep()
	}
}

// followed tells whether somebody reads along.
func (c *capture) followed() bool { return c.by != nil && c.by.follows(c.log.of.Run) }

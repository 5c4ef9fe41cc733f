package command

import (
	"os"
	"path/filepath"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// draftAfter is how long an attempt lives before what it says goes to its log file at once: if the driver is killed then, the file
// is all that is left of it. Most attempts end before, and cost no file. The file is not synced: a kill takes nothing from it.
const draftAfter = 100 * time.Millisecond

// ticket names an attempt.
type ticket struct {
	run    string
	number uint64
}

// draft begins the draft of a stream: a log that is needed until the journal has what was said.
func (c *capture) draft() {
	c.drafts = true
	if c.total > 0 {
		c.log.begin(c.buf)
	}
}

// drafting tells whether a stream has said something that no file has.
func (c *capture) drafting() bool { return c.total > 0 && !c.log.opened && c.log.dir != "" }

// saveDrafts begins the drafts of a child that has lived for long enough, and tells when it will have.
func (c *child) saveDrafts(started time.Time) {
	if !c.drafts && time.Since(started) >= draftAfter {
		c.drafts = true
		c.out.draft()
		c.err.draft()
	}
}

// nextDraft is when a child is to be looked at for its drafts; zero if it need not be.
func (c *child) nextDraft(started time.Time) time.Time {
	if c.drafts || !c.out.drafting() && !c.err.drafting() {
		return time.Time{}
	}
	return started.Add(draftAfter)
}

// keepDrafts notes the drafts of an attempt that is over, for Settle.
func (x *Executor) keepDrafts(a *event.Attempt, streams ...*capture) {
	for _, c := range streams {
		if c.log.rel == "" || c.needed {
			continue
		}
		x.mu.Lock()
		if x.drafts == nil {
			x.drafts = map[ticket][]string{}
		}
		of := ticket{a.Run, a.Ticket}
		x.drafts[of] = append(x.drafts[of], filepath.Join(c.log.dir, LogName(a, c.log.stream)))
		x.mu.Unlock()
	}
}

// Settle tells that events of a run are durable: of attempts whose answers are among them, the journal has all that was said, and a
// log file that no answer names is removed.
func (x *Executor) Settle(run string, events []event.Event) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := 0; i < len(events) && len(x.drafts) > 0; i++ {
		f := events[i].AttemptFinished
		if f == nil {
			continue
		}
		of := ticket{run, f.Ticket}
		for _, file := range x.drafts[of] {
			os.Remove(file)
		}
		delete(x.drafts, of)
	}
}

// Ended tells that a run has ended and that all of its events are durable: its folder of logs goes if nothing is in it.
func (x *Executor) Ended(run string) {
	if x.opt.LogDir != "" {
		os.Remove(filepath.Join(x.opt.LogDir, safe(run)))
	}
}

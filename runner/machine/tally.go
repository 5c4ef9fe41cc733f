package machine

import "github.com/flowrun/flowrun/runner/event"

// tally counts the ends of children or instances by status. Failures that were tolerated are among
// the failed.
type tally struct {
	succeeded, failed, tolerated, skipped, blocked, cancelled int32
	firstBad                                                  string
}

func (t *tally) countEnd(s event.Status, tolerated bool, path string) {
	switch s {
	case event.Succeeded:
		t.succeeded++
	case event.FailedS:
		t.failed++
	case event.Skipped:
		t.skipped++
	case event.Blocked:
		t.blocked++
	case event.Cancelled:
		t.cancelled++
	}
	switch {
	case tolerated:
		t.tolerated++
	case s.Bad() && t.firstBad == "":
		t.firstBad = path
	}
}

// countBad returns the number of ends that fail the parent.
func (t *tally) countBad() int32 { return t.failed - t.tolerated + t.blocked + t.cancelled }

// describeBad describes the ends that fail the parent.
func (t *tally) describeBad() string {
	return joinCounts("nothing", namedCount{t.failed - t.tolerated, "failed"}, namedCount{t.blocked, "blocked"}, namedCount{t.cancelled, "cancelled"}) +
		"; first " + t.firstBad
}

// describeAll describes all ends.
func (t *tally) describeAll() string {
	return joinCounts("nothing ended", namedCount{t.succeeded, "succeeded"}, namedCount{t.failed, "failed"}, namedCount{t.skipped, "skipped"},
		namedCount{t.blocked, "blocked"}, namedCount{t.cancelled, "cancelled"})
}

package machine

import "github.com/flowrun/flowrun/runner/event"

// tally counts the ends of children or instances by status. Failures that were tolerated are among the failed.
type tally struct {
	succeeded, failed, tolerated, skipped, blocked, cancelled int32
	firstBad                                                  string
}

func (t *tally) count(s event.Status, tolerated bool, path string) {
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

// bad is how many count against what they lie in.
func (t *tally) bad() int32 { return t.failed - t.tolerated + t.blocked + t.cancelled }

// words say what went wrong.
func (t *tally) words() string {
	return list("nothing", count{t.failed - t.tolerated, "failed"}, count{t.blocked, "blocked"}, count{t.cancelled, "cancelled"}) +
		"; first " + t.firstBad
}

// all says how everything ended.
func (t *tally) all() string {
	return list("nothing ended", count{t.succeeded, "succeeded"}, count{t.failed, "failed"}, count{t.skipped, "skipped"},
		count{t.blocked, "blocked"}, count{t.cancelled, "cancelled"})
}

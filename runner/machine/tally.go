package machine

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/runner/event"
)

// tally counts ends by status.
type tally struct {
	succeeded, failed, skipped, blocked, cancelled int
	firstBad                                       string
}

func (t *tally) count(s event.Status, path string) {
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
	if s.Bad() && t.firstBad == "" {
		t.firstBad = path
	}
}

func (t *tally) words() string {
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{t.failed, "failed"}, {t.blocked, "blocked"}, {t.cancelled, "cancelled"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.word))
		}
	}
	return strings.Join(parts, ", ")
}

package args

import (
	"strings"
	"time"
)

// MaxMoments is the largest number of moments that routines next prints.
const MaxMoments = 10_000

// RoutinesNext is what the command routines next takes.
type RoutinesNext struct {
	Cron, Timezone string
	From           string
	Count          int
	JSON           bool
	After          time.Time // Check sets it from From
}

// Check reads the moment after which to look; without one it is now.
func (r *RoutinesNext) Check(now time.Time) error {
	if strings.TrimSpace(r.Cron) == "" {
		return &Error{Message: "--cron says when", Hint: `Write a schedule, as in: flowrun routines next --cron "0 2 * * MON-FRI" --timezone Europe/Berlin`}
	}
	if r.Count < 1 || r.Count > MaxMoments {
		return Errorf("--count is %d; it can be 1 to %d", r.Count, MaxMoments)
	}
	r.After = now
	if r.From == "" {
		return nil
	}
	from, err := time.Parse(time.RFC3339, r.From)
	if err != nil {
		return &Error{Message: "--from is not a moment: " + r.From, Hint: "Write it like 2026-11-02T08:00:00Z or 2026-11-02T09:00:00+01:00."}
	}
	r.After = from
	return nil
}

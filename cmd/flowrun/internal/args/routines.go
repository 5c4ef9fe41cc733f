package args

import (
	"fmt"
	"strings"
	"time"
)

// MaxMoments is the largest number of moments that routines next and routines list print of a routine.
const MaxMoments = 10_000

// RoutinesNext is what the command routines next takes.
type RoutinesNext struct {
	Name           string // of a registered routine; "": Cron says when
	Cron, Timezone string
	From           string
	Count          int
	JSON           bool
	After          time.Time // Check sets it from From
}

// Check reads the moment after which to look; without one it is now.
func (r *RoutinesNext) Check(now time.Time) error {
	switch {
	case r.Name == "" && strings.TrimSpace(r.Cron) == "":
		return &Error{Message: "the command needs the name of a routine, or --cron", Hint: `As in: flowrun routines next --cron "0 2 * * MON-FRI" --timezone Europe/Berlin`}
	case r.Name != "" && r.Cron != "":
		return &Error{Message: "the name of a routine and --cron both say when", Hint: "Leave out one of the two."}
	case r.Name != "" && r.Timezone != "":
		return &Error{Message: "--timezone is for --cron", Hint: "A routine has its own time zone. Leave --timezone out."}
	}
	if err := checkMoments("--count", r.Count, 1); err != nil {
		return err
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

func checkMoments(flag string, n, least int) error {
	if n < least || n > MaxMoments {
		return &Error{Message: fmt.Sprintf("%s is %d; it can be %d to %d", flag, n, least, MaxMoments)}
	}
	return nil
}

// RoutinesList is what the command routines list takes.
type RoutinesList struct {
	Next int // moments of each routine
	JSON bool
}

// Check refuses a number of moments beyond the bounds.
func (r *RoutinesList) Check() error { return checkMoments("--next", r.Next, 0) }

// RoutinesChange is what routines pause, resume and run take.
type RoutinesChange struct {
	Name string
	JSON bool
	Drive
}

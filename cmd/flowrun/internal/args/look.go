package args

import (
	"slices"
	"time"
)

// List is what runs list takes.
type List struct {
	JSON     bool
	Limit    int      // at most so many; 0 means all
	Status   []string // of these alone; nil: of any
	Workflow string   // of this alone; "": of any
	Cause    string   // started by this kind of cause alone; "": by any
	Since    string   // an age or a moment: those that began since then; "": all
}

// statuses are those that a run can have, and "interrupted", which people read where nobody drives a run that has not ended.
var statuses = []string{"pending", "running", "waiting", "interrupted", "succeeded", "failed", "cancelled", "skipped"}

// causes are the kinds that run.cause can have.
var causes = []string{"manual", "call", "event", "routine", "loop", "retry"}

// Check refuses numbers and words.
func (l *List) Check() error {
	if l.Limit < 0 {
		return Errorf("--limit %d is below 0", l.Limit)
	}
	for _, s := range l.Status {
		if err := OneOf("--status", s, statuses...); err != nil {
			return err
		}
	}
	if l.Cause != "" {
		return OneOf("--cause", l.Cause, causes...)
	}
	return nil
}

// Begin is the moment that --since names; the zero time without it.
func (l *List) Begin(now time.Time) (time.Time, error) {
	if l.Since == "" {
		return time.Time{}, nil
	}
	return readMoment("--since", l.Since, now)
}

// Filters tells whether it asks for some runs and not for all.
func (l *List) Filters() bool {
	return len(l.Status) > 0 || l.Workflow != "" || l.Cause != "" || l.Since != ""
}

// Takes tells whether a run is one of those that are asked for.
func (l *List) Takes(workflow, status string) bool {
	return (l.Workflow == "" || l.Workflow == workflow) && (len(l.Status) == 0 || slices.Contains(l.Status, status))
}

// Events is what events takes.
type Events struct {
	Runs
	Node  string // only what is about this node, or below it
	Since int    // from this event on; 0: from the first
}

// Check refuses numbers.
func (e *Events) Check() error {
	if e.Since < 0 {
		return Errorf("--since %d is below 0", e.Since)
	}
	return nil
}

// Logs is what runs logs takes.
type Logs struct {
	Runs
	Step   string // "": all of them
	Follow bool
	Failed bool // only attempts that failed
}

// Show is what runs show takes.
type Show struct {
	Runs
	Step string // "": all of them
	At   int    // as it was after this event; 0: as it is
	// All shows long lists of nodes in full; Failed shows only the steps that failed.
	All, Failed bool
}

// Check refuses numbers.
func (s *Show) Check() error {
	if s.At < 0 {
		return Errorf("--at %d is below 0", s.At)
	}
	if s.Failed && s.JSON {
		return Errorf("--failed and --json cannot be combined; the JSON has the status of each node")
	}
	return nil
}

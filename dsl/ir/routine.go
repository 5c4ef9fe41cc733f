package ir

import "time"

// Overlap says what a run of a routine does while an earlier one is under way.
type Overlap string

// The values of overlap. The zero value means that the workflow's own concurrency counts; where it has none OverlapSkip, and OverlapQueue
// with MissedAll.
const (
	OverlapSkip           Overlap = "skip"            // it does nothing
	OverlapQueue          Overlap = "queue"           // it waits
	OverlapCancelPrevious Overlap = "cancel_previous" // the other run is cancelled
	OverlapAllow          Overlap = "allow"           // they run beside each other
)

// Overlaps lists all values.
var Overlaps = []Overlap{OverlapSkip, OverlapQueue, OverlapCancelPrevious, OverlapAllow}

// UnmarshalText refuses a value that is not in [Overlaps].
func (o *Overlap) UnmarshalText(text []byte) error { return read(o, text, "overlap", Overlaps) }

// Missed says which moments of a routine start runs that passed while nobody was there to start them.
type Missed string

// The values of missed. The zero value means MissedLatest.
const (
	MissedNone   Missed = "none"
	MissedLatest Missed = "latest"
	MissedAll    Missed = "all"
)

// Misseds lists all values.
var Misseds = []Missed{MissedNone, MissedLatest, MissedAll}

// UnmarshalText refuses a value that is not in [Misseds].
func (m *Missed) UnmarshalText(text []byte) error { return read(m, text, "missed", Misseds) }

// Routine starts a workflow by the clock. One of Cron and Every says when.
type Routine struct {
	Name     string        `json:"name"`
	Cron     string        `json:"cron,omitempty"`
	Every    time.Duration `json:"every_ns,omitempty"`
	Timezone string        `json:"timezone,omitempty"` // "": that of Cron, or UTC
	Workflow string        `json:"workflow"`
	With     *Expr         `json:"with,omitempty"` // an object of inputs over var and local; nil: none
	Overlap  Overlap       `json:"overlap,omitempty"`
	Missed   Missed        `json:"missed,omitempty"`
	Jitter   time.Duration `json:"jitter_ns,omitempty"`
	Paused   bool          `json:"paused,omitempty"`
}

// Routine returns the routine of a name, or nil.
func (p *Program) Routine(name string) *Routine {
	for i := range p.Routines {
		if p.Routines[i].Name == name {
			return &p.Routines[i]
		}
	}
	return nil
}

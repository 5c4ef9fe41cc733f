package engine

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Info describes a run without a replay of its journal.
type Info struct {
	Run        string
	Workflow   string
	Definition string // the hash of the program that the run pins
	// Status is the status after the last event. A run that was never driven is pending. A run is waiting while neither the run itself
	// nor a run that it called has a live attempt.
	Status  event.Status
	Created event.Time
	Ended   event.Time // 0: the run has not ended
	Events  uint64     // the number of events in the journal
	// Driver is the id of the process that drives the run now, 0 if no process does.
	Driver int
	// Crashed reports whether the last driver died. A resume continues the run.
	Crashed bool
	// Last is the time of the last event of a run that is [Info.Interrupted]; 0 for other runs.
	Last    event.Time
	Summary Summary
	// Parent is the run that called this run, and ParentNode the path of the calling node; both are "" if no run called it.
	Parent, ParentNode string
	// Parked reports whether nothing of the run is in flight and Driver only wakes it.
	Parked bool
	// Turn is the wait of a run of a group for its turn, nil if the run does not wait. Its Driver then is the process that waits.
	Turn *Turn
	// RetryOf is the run that this run repeats, and RetriedBy the newest run that repeats this one; "" if there is none.
	RetryOf, RetriedBy string
	// Trouble says for a person what keeps the run from going on, as far as the host knows: nobody takes work from its queue, or its drivers
	// fail at the same point again and again. "" if nothing does.
	Trouble string
}

// Interrupted reports whether a run has not ended and no process drives it.
func (i *Info) Interrupted() bool { return i.Driver == 0 && !i.Status.Terminal() }

// Summary is how a run ended. Cut reports whether outputs were left out because the summary exceeded [MaxSummary];
// the journal holds them.
type Summary struct {
	Outputs map[string]value.Value `json:"outputs,omitempty"`
	Error   *event.Error           `json:"error,omitempty"`
	Limit   bool                   `json:"limit,omitempty"`
	Cut     bool                   `json:"cut,omitempty"`
}

// MaxSummary is the size limit of an encoded summary in bytes, so that a list of runs stays cheap.
const MaxSummary = 4 << 10

// maxSummaryMessage is the length in bytes that an error message is cut to when the summary would be too large.
const maxSummaryMessage = 512

// EncodeSummary encodes the end of a run as a [Summary] in JSON of at most [MaxSummary] bytes, the error's short fields
// aside. It does not change end.
func EncodeSummary(end *event.End) []byte {
	s := Summary{Outputs: end.Outputs, Error: end.Error, Limit: end.Limit}
	b, err := json.Marshal(s)
	if err != nil || len(b) > MaxSummary {
		s.Outputs, s.Cut = nil, true
		if s.Error != nil {
			short := *s.Error
			short.Message = strings.ToValidUTF8(short.Message[:min(len(short.Message), maxSummaryMessage)], "")
			s.Error = &short
		}
		b, _ = json.Marshal(s)
	}
	return b
}

// StatusAfter returns the status of a run after a reaction of its fold, given its status before. A run that has begun is waiting while
// it has no live attempt but watches of sources. Its called runs do not count: a host that lists runs looks at them.
func StatusAfter(s event.Status, r *event.Reaction, f *Fold) event.Status {
	for i := range r.Transitions {
		if t := &r.Transitions[i]; t.Node == "" && t.To != "" {
			s = t.To
		}
	}
	switch {
	case s == event.Pending || s.Terminal():
		return s
	case !f.works():
		return event.Waiting
	}
	return event.Running
}

// Group names runs that must not overlap: one of them at a time is driven. The zero value is not a group.
type Group struct {
	Name     string
	WhenBusy WhenBusy
}

// Turn is a run's wait for its turn in a group.
type Turn struct {
	Group  string
	Behind string // the run before it; "" if the turn has come just now
}

func (t Turn) String() string {
	text := fmt.Sprintf("waits for its turn in the group %q", t.Group)
	if t.Behind != "" {
		text += ", behind run " + t.Behind
	}
	return text
}

// WhenBusy is the behaviour of a new run while another run of its group is driven or waits for its turn. The zero value is [Queue].
type WhenBusy string

// The ways to treat a busy group.
const (
	Queue          WhenBusy = "queue"           // wait for the turn
	Skip           WhenBusy = "skip"            // end as skipped
	CancelPrevious WhenBusy = "cancel_previous" // cancel the runs before it, and wait for their ends
)

// WhenBusies lists all ways to treat a busy group.
var WhenBusies = []WhenBusy{Queue, Skip, CancelPrevious}

// Health is what [Keeper.Examine] found. The zero value is that of an empty store without damage.
type Health struct {
	Version int // version of the store's form
	Runs    int // runs in the store
	Checked int // runs with a journal that was read from the first event to the last
	// Broken lists the runs with a damaged journal, definition or mark. The errors wrap journal.ErrBroken, or say that
	// the database itself is damaged.
	Broken []Broken
	// Database is the database's own report of damage to its file; "" if it is whole or was too large to check.
	Database string
	// Snapshots is how many snapshots were compared with their journals. Odd are those that a driver passes over, or that differ.
	Snapshots int
	Odd       []Broken
	Dead      []int64 // drivers that died and left their locks
	Log       int64   // size of the database's log in bytes
	Reserve   Reserve
}

// Broken is a run that is damaged.
type Broken struct {
	Run string
	Err error
}

// Reserve is disk space that a store keeps so that it can record how runs stop when the disk is full.
type Reserve struct {
	Made      bool
	Size      uint64 // in bytes, once it is made
	NeedsFree uint64 // free space in bytes that must be left before the store makes it
}

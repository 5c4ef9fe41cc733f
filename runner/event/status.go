package event

// Status is where a node or a run stands. The set is closed.
type Status string

// The statuses; the last five are terminal.
const (
	Pending   Status = "pending"
	Running   Status = "running"
	Waiting   Status = "waiting" // for a timer, a slot's turn after a backoff, a person, an event
	Succeeded Status = "succeeded"
	FailedS   Status = "failed"
	Skipped   Status = "skipped"
	Blocked   Status = "blocked"
	Cancelled Status = "cancelled"
)

// Statuses lists all of them.
var Statuses = []string{"pending", "running", "waiting", "succeeded", "failed", "skipped", "blocked", "cancelled"}

// Terminal tells whether nothing follows.
func (s Status) Terminal() bool {
	switch s {
	case Succeeded, FailedS, Skipped, Blocked, Cancelled:
		return true
	}
	return false
}

// Bad tells whether dependents count the status as failed.
func (s Status) Bad() bool { return s == FailedS || s == Blocked || s == Cancelled }

package event

// CauseKind is the sort of what started a run.
type CauseKind string

// The kinds of causes.
const (
	CauseManual  CauseKind = "manual"  // a person, or a program of theirs
	CauseCall    CauseKind = "call"    // a step of another run
	CauseRetry   CauseKind = "retry"   // the run repeats another run
	CauseEvent   CauseKind = "event"   // an event that was published
	CauseRoutine CauseKind = "routine" // a routine whose time had come
	CauseLoop    CauseKind = "loop"    // a loop that took an item
)

// CauseKinds lists all kinds.
var CauseKinds = []CauseKind{CauseManual, CauseCall, CauseEvent, CauseRoutine, CauseLoop, CauseRetry}

// MaxCauses is how many events can have led to an event that still starts runs.
const MaxCauses = 32

// Cause is what started a run. The zero value of a field means it does not apply.
type Cause struct {
	Kind CauseKind `json:"kind"`
	// Name is that of the event, the routine or the loop; of a call, the path of the node.
	Name string `json:"name,omitempty"`
	// ID is that of the event or of the item; of a call and a retry, the other run's.
	ID string `json:"id,omitempty"`
	// Source is who published the event: a run's id, or a word for what is outside.
	Source string `json:"source,omitempty"`
	At     Time   `json:"at,omitempty"` // when the event was published
	// ScheduledAt is the time for which a routine started the run, which may have started later.
	ScheduledAt Time `json:"scheduled_at,omitempty"`
	// Worktree is the folder, and Branch the branch, that a loop made for the run of an item.
	Worktree string `json:"worktree,omitempty"`
	Branch   string `json:"branch,omitempty"`
	// Events are the ids of the events that led to the run, the oldest first.
	Events []string `json:"events,omitempty"`
	// Handoff is the document with which the work of the run, or of a run that calls it, was handed over.
	Handoff *Handoff `json:"handoff,omitempty"`
}

// CauseOf returns the cause of a run, which is never nil.
func (s *RunStarted) CauseOf() *Cause {
	switch {
	case s.Cause != nil && s.Cause.Kind != "":
		return s.Cause
	case s.Parent != "":
		return &Cause{Kind: CauseCall, Name: s.ParentNode, ID: s.Parent, Events: s.Events()}
	case s.RetryOf != "":
		return &Cause{Kind: CauseRetry, ID: s.RetryOf, Events: s.Events()}
	}
	return &Cause{Kind: CauseManual, Events: s.Events()}
}

// Events are the ids of the events that led to the run, the oldest first.
func (s *RunStarted) Events() []string {
	if s.Cause == nil {
		return nil
	}
	return s.Cause.Events
}

// RetryCause is the cause of a run that repeats run, of which first is the first event: what started the other run is still known, and the
// moment for which a routine started it. It is nil if there is no more to know than the other run's id.
func RetryCause(run string, first *RunStarted) *Cause {
	if first.Cause == nil || first.Cause.Kind == "" {
		return first.Cause
	}
	c := *first.Cause
	c.Kind, c.ID = CauseRetry, run
	return &c
}

// HandedOver is the document with which the work of the run was handed over; nil if nobody did.
func (s *RunStarted) HandedOver() *Handoff {
	if s.Cause == nil {
		return nil
	}
	return s.Cause.Handoff
}

// CallCause is what a called run records of the events that led to its caller, and of the hand-over of its work; nil if there were none.
func CallCause(caller *RunStarted) *Cause {
	if caller.Events() == nil && caller.HandedOver() == nil {
		return nil
	}
	return &Cause{Events: caller.Events(), Handoff: caller.HandedOver()}
}

// Object returns the cause as expressions read it. A field that does not apply is null.
func (c *Cause) Object() map[string]any {
	return map[string]any{"kind": string(c.Kind), "name": textOrNull(c.Name), "id": textOrNull(c.ID), "source": textOrNull(c.Source),
		"at": textOrNull(c.At.String()), "scheduled_at": textOrNull(c.ScheduledAt.String()), "depth": float64(len(c.Events)),
		"worktree": textOrNull(c.Worktree), "branch": textOrNull(c.Branch)}
}

// String says who started the run, in words.
func (c *Cause) String() string {
	text := string(c.Kind)
	if c.Name != "" {
		text += " " + c.Name
	}
	if c.Kind == CauseEvent {
		text += " (" + c.ID + ")"
	} else if c.ID != "" && c.Kind != CauseRoutine {
		text += " " + c.ID
	}
	if c.ScheduledAt != 0 {
		text += " of " + c.ScheduledAt.String()
	}
	return text
}

func (f *facts) cause(c *Cause) {
	*f = append(*f, 'c')
	f.text('k', string(c.Kind))
	f.text('n', c.Name)
	f.text('i', c.ID)
	f.text('s', c.Source)
	f.number('a', uint64(c.At))
	f.number('d', uint64(c.ScheduledAt))
	f.text('w', c.Worktree)
	f.text('b', c.Branch)
	f.texts('e', c.Events)
	if c.Handoff != nil {
		f.handoff(c.Handoff)
	}
	f.end()
}

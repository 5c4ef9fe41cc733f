package view

import (
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// Types of lines besides node.STATUS, node.NOTE, run.STATUS and run.NOTE. They are part of the JSON that programs read.
const (
	Started     = "run.started"
	Resumed     = "run.resumed"
	CancelAsked = "run.cancel_asked"
	// NodeCancelAsked is the request to end one node.
	NodeCancelAsked = "node.cancel_asked"
	GatePassed      = "gate.passed"
	GateFailed      = "gate.failed"
	GateWarned      = "gate.warned"
)

// Line is one visible change of a run.
type Line struct {
	Seq  uint64 // counts from 1 over the run
	Time event.Time
	Type string
	Run  string
	// Workflow is the name of the workflow that the run is of.
	Workflow string
	Node     string // the instance's path; "" for the run itself
	Name     string
	// Item names the item of an instance, as in [Node].
	Item string
	// Child is the run that the node called, the last where there were several; "" if it called none.
	Child  string
	Status event.Status // after the change
	Reason string
	// WaitsFor is what a node that begins to wait waits for; nil if nothing. RunWaits tells that the whole run waits then.
	WaitsFor *event.WaitsFor
	RunWaits bool
	// Attempt is 0 where none was made.
	Attempt int
	// Duration is that of the node, or the run, so far.
	Duration time.Duration
	// Leaf tells that nothing lies below the node.
	Leaf bool
	// Tells says that Result is the last word on what a step did. That of an iteration is not: its repeat has that.
	Tells bool
	Gate  *event.Verdict
	// Note says that something happened to the node without a change of its status; Result is then that thing's.
	Note event.Note
	// Level is the level of its escalation that the node has come to, of the note escalated.
	Level  string
	Result *event.Result
	// End stands on the run's last line.
	End *event.End
	// Failures are the first steps that failed, MaxFailures of them at most, and Failed is how many there are; of the last line of a run
	// that failed.
	Failures []Failure
	Failed   int
}

// AsksToEnd reports whether a line is a request to end the run or a node.
func (l *Line) AsksToEnd() bool { return l.Type == CancelAsked || l.Type == NodeCancelAsked }

// Title is the path of the node that a line is about, with the name of its item if it has one; "" for the run itself.
func (l *Line) Title() string { return titled(l.Node, l.Item) }

func (r *Run) line(kind string, at event.Time) *Line {
	l := new(Line)
	r.begin(l, kind, at)
	return l
}

// begin fills in what all lines have.
func (r *Run) begin(l *Line, kind string, at event.Time) {
	r.seq++
	l.Seq, l.Time, l.Type, l.Run, l.Workflow, l.Status = r.seq, at, kind, r.ID, r.Workflow, r.Status
}

// nodeTypes are the types of most lines, so that they need no memory of their own.
var nodeTypes = map[event.Status]string{}

func init() {
	for _, s := range event.Statuses {
		nodeTypes[event.Status(s)] = "node." + s
	}
}

func typeOf(t *event.Transition) string {
	switch {
	case t.Gate != nil && t.Gate.Passed:
		return GatePassed
	case t.Gate != nil && t.Gate.Warning:
		return GateWarned
	case t.Gate != nil:
		return GateFailed
	case t.Note != "" && t.Node == "":
		return "run." + string(t.Note)
	case t.Note != "":
		return "node." + string(t.Note)
	case t.Node != "":
		if kind := nodeTypes[t.To]; kind != "" {
			return kind
		}
		return "node." + string(t.To)
	case t.To == event.Running:
		return Started
	}
	return "run." + string(t.To)
}

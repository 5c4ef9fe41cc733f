package ui

import (
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// EventVersion is the version of the lines that --json prints. Fields are added without a new number.
const EventVersion = 1

// Events shows a run as JSON, an object a line, for programs.
type Events struct {
	t *Term
}

// NewEvents makes a Progress that writes JSON lines.
func NewEvents(t *Term) *Events { return &Events{t: t} }

type eventJSON struct {
	V        int          `json:"v"`
	Seq      uint64       `json:"seq"`
	Time     view.Moment  `json:"time"`
	Type     string       `json:"type"`
	Run      string       `json:"run"`
	Workflow string       `json:"workflow,omitempty"` // on the first line
	Node     string       `json:"node,omitempty"`
	Item     string       `json:"item,omitempty"` // as in the document of a run
	Status   event.Status `json:"status,omitempty"`
	Attempt  int          `json:"attempt,omitempty"`
	Seconds  float64      `json:"duration,omitempty"` // in seconds, at the end of a node or run
	Reason   string       `json:"reason,omitempty"`
	// WaitsFor is as in the document of a run. RunStatus is that of the run where it waits, too.
	WaitsFor  *view.WaitsForDoc `json:"waits_for,omitempty"`
	RunStatus event.Status      `json:"run_status,omitempty"`
	ExitCode  *int              `json:"exit_code,omitempty"`
	Gate      *event.Verdict    `json:"gate,omitempty"`
	Error     *event.Error      `json:"error,omitempty"`
	// Tolerated, Reused, Winner and Iterations are as in the document of a run.
	Tolerated  bool   `json:"tolerated,omitempty"`
	Reused     bool   `json:"reused,omitempty"`
	Winner     string `json:"winner,omitempty"`
	Iterations int    `json:"iterations,omitempty"`
	// Level is the level of its escalation that the node has come to; Escalated, at an end, the highest one.
	Level     string `json:"level,omitempty"`
	Escalated string `json:"escalated,omitempty"`
	// Set and By are as in the document of a run.
	Set     bool       `json:"set,omitempty"`
	By      string     `json:"by,omitempty"`
	Outputs *view.Data `json:"outputs,omitempty"` // on the last line
}

// Update implements Progress. Of what was told before, to another process, the end alone is told again: a run that has ended
// says how.
func (p *Events) Update(_ *view.Run, lines []view.Line, past bool) {
	for i := range lines {
		if !past || lines[i].End != nil {
			_ = WriteJSON(p.t, eventOf(&lines[i])) // a Term keeps its own error
		}
	}
}

func eventOf(l *view.Line) eventJSON {
	e := eventJSON{V: EventVersion, Seq: l.Seq, Time: view.Moment(l.Time), Type: l.Type, Run: l.Run, Node: l.Node, Item: l.Item,
		Status: l.Status, Attempt: l.Attempt, Reason: l.Reason, Gate: l.Gate, Level: l.Level,
		WaitsFor: view.WaitsForDocument(l.WaitsFor)}
	if l.RunWaits {
		e.RunStatus = event.Waiting
	}
	if l.Type == view.Started {
		e.Workflow = l.Workflow
	}
	if l.Status.Terminal() {
		e.Seconds = l.Duration.Seconds()
	}
	if l.Result != nil && l.Gate == nil {
		e.Error = l.Result.Error
		e.Tolerated, e.Reused, e.Winner, e.Iterations = l.Result.Tolerated, l.Result.Reused, l.Result.Winner, l.Result.Iterations
		e.Escalated, e.Set, e.By = l.Result.Escalated, l.Result.Set, l.Result.By
		if l.Result.ExitCode >= 0 {
			e.ExitCode = &l.Result.ExitCode
		}
	}
	if l.End != nil {
		out := view.Outputs(l.End.Outputs)
		e.Outputs, e.Error = &out, l.End.Error
	}
	return e
}

// Tick implements Progress.
func (p *Events) Tick(time.Time) {}

// Close implements Progress.
func (p *Events) Close(time.Time) {}

// Hear implements Progress.
func (p *Events) Hear(Saying) {}

// Work implements Progress.
func (p *Events) Work(*view.Begun) {}

// Say implements Progress.
func (p *Events) Say(string) {}

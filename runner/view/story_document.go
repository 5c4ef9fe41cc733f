package view

import "github.com/flowrun/flowrun/runner/event"

// StoryDoc is one node whole, as programs read it. Its JSON is an interface: fields are added, never renamed.
type StoryDoc struct {
	Run      string `json:"run"`
	Workflow string `json:"workflow"`
	// RunStatus is the status of the run, and Parent the run that called it.
	RunStatus event.Status `json:"run_status"`
	Parent    string       `json:"parent,omitempty"`
	Node      NodeDoc      `json:"node"`
	// Condition is the node's when, as it is written.
	Condition  string       `json:"condition,omitempty"`
	Awaits     []AwaitedDoc `json:"awaits"`
	Dependents []string     `json:"dependents"`
	// Tries are the attempts as they ended, of the action, of gates and of the compensation; the first ones are left out
	// where there are more than fit.
	Tries []TryDoc     `json:"tries"`
	Left  int          `json:"tries_left_out,omitempty"`
	Gates []VerdictDoc `json:"gates"`
}

// AwaitedDoc is a node that another waits for; Status is null where that is not there yet.
type AwaitedDoc struct {
	Name   string        `json:"name"`
	ID     string        `json:"id,omitempty"`
	Status *event.Status `json:"status"`
}

// TryDoc is one attempt. Stdout and Stderr are what the journal keeps of them; the files are relative to the store.
type TryDoc struct {
	Attempt    int           `json:"attempt"`
	Gate       string        `json:"gate,omitempty"`
	Compensate bool          `json:"compensate,omitempty"`
	Outcome    event.Outcome `json:"outcome"`
	StartedAt  Moment        `json:"started_at"`
	FinishedAt Moment        `json:"finished_at"`
	ExitCode   int           `json:"exit_code"` // -1 where there is none
	Error      *event.Error  `json:"error"`
	Stdout     string        `json:"stdout"`
	Stderr     string        `json:"stderr"`
	StdoutLog  string        `json:"stdout_log,omitempty"`
	StderrLog  string        `json:"stderr_log,omitempty"`
	Dropped    bool          `json:"dropped,omitempty"`
	// Node, Agent, Process and Says are set for attempts that have not answered. The outcome is then "running" or "interrupted", the time
	// of the end null, and Stdout and Stderr are the ends of what was written; HeardAt is the last sign of life.
	Node    string  `json:"node,omitempty"`
	Agent   string  `json:"agent,omitempty"`
	Process int     `json:"process,omitempty"`
	Command string  `json:"command,omitempty"` // of one that has not answered
	Says    string  `json:"says,omitempty"`
	HeardAt *Moment `json:"heard_at,omitempty"`
	Reason  string  `json:"reason,omitempty"`
	// Request is what the attempt was asked to do. Recalled is what the memory gave it, and Learned what the agent says that it learned;
	// Warning, what did not go as the file asks and does not count.
	Request  *RequestDoc      `json:"request,omitempty"`
	Recalled []event.Recalled `json:"recalled,omitempty"`
	Learned  []event.Learned  `json:"learned,omitempty"`
	Usage    *event.Usage     `json:"usage,omitempty"`
	Warning  string           `json:"warning,omitempty"`
}

// VerdictDoc is a gate's word on an attempt.
type VerdictDoc struct {
	Attempt int `json:"attempt"`
	event.Verdict
}

// Document gives the story as it stands.
func (s *Story) Document() StoryDoc {
	n := s.Node()
	d := StoryDoc{Run: s.run.ID, Workflow: s.run.Workflow, RunStatus: s.run.Status, Parent: s.run.Parent, Node: s.run.document(n), Condition: s.Condition(), Dependents: s.Dependents(),
		Awaits: []AwaitedDoc{}, Tries: []TryDoc{}, Left: s.Left, Gates: []VerdictDoc{}}
	if d.Dependents == nil {
		d.Dependents = []string{}
	}
	for _, a := range s.Awaits() {
		doc := AwaitedDoc{Name: a.Name, ID: a.Path}
		if a.Status != "" {
			doc.Status = &a.Status
		}
		d.Awaits = append(d.Awaits, doc)
	}
	for _, t := range s.Tries {
		d.Tries = append(d.Tries, t.document())
	}
	for _, v := range s.Gates {
		d.Gates = append(d.Gates, VerdictDoc(v))
	}
	return d
}

// Document gives an attempt that has not answered.
func (b *Begun) Document() TryDoc {
	doc := TryDoc{Node: b.Node, Agent: b.Agent, Attempt: b.Attempt, Gate: b.Gate, Compensate: b.Compensate, Outcome: event.Outcome(event.Running),
		StartedAt: Moment(b.StartedAt), ExitCode: -1, Stdout: b.Stdout, Stderr: b.Stderr, StdoutLog: b.StdoutLog, StderrLog: b.StderrLog,
		Process: b.Process, Command: b.Command, Says: b.Says, Reason: b.Interrupted}
	if b.Interrupted != "" {
		doc.Outcome = Interrupted
	}
	if b.Heard != 0 {
		heard := Moment(b.Heard) // the attempt is heard again
		doc.HeardAt = &heard
	}
	return doc
}

func (t *Try) document() TryDoc {
	if t.Begun != nil {
		doc := t.Begun.Document()
		doc.Request = t.Request
		return doc
	}
	f := t.Answer.Shown()
	doc := TryDoc{Attempt: f.Attempt, Gate: f.Gate, Compensate: f.Compensate, Outcome: f.Outcome, StartedAt: Moment(f.StartedAt),
		FinishedAt: Moment(t.Ended), ExitCode: -1, Error: f.Error, Stdout: f.Stdout, Stderr: f.Stderr, StdoutLog: f.StdoutLog,
		StderrLog: f.StderrLog, Dropped: t.Dropped, Request: t.Request, Recalled: f.Recalled, Learned: f.Learned,
		Usage: f.Usage, Warning: f.Warning}
	if f.ExitCode != nil {
		doc.ExitCode = *f.ExitCode
	}
	return doc
}

// Condition is the text of the node's when, or "".
func (s *Story) Condition() string {
	d := s.run.declared[s.Node().Name]
	if d == nil || d.When == nil {
		return ""
	}
	return d.When.Text
}

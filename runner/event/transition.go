package event

import (
	"strconv"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// Transition is one visible change: of a node, of the run (Node ""), or the verdict of a gate.
type Transition struct {
	At      Time   `json:"at"`
	Node    string `json:"node"`
	From    Status `json:"from,omitempty"`
	To      Status `json:"to,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	// Note says what else happened to a node, or the run, whose status stays as it is: From and To are equal.
	Note Note `json:"note,omitempty"`
	// Level is the level of the escalation, of the note Escalated.
	Level string `json:"level,omitempty"`
	// Reason says why, in words for a person: what it waits for, why it was skipped or blocked.
	Reason string   `json:"reason,omitempty"`
	Gate   *Verdict `json:"gate,omitempty"`
	// WaitsFor says what a node that begins to wait waits for; nil where a timer alone keeps it.
	WaitsFor *WaitsFor `json:"waits_for,omitempty"`
	// Result is the node's result as it is now; set when To is terminal, and when an attempt failed and another follows.
	// Beside the notes Compensated and NotCompensated it is that of the compensation, beside Adapted a [Change].
	// It belongs to the machine and must not be changed.
	Result *Result `json:"result,omitempty"`
	// Name is the node's declared name; Kind its kind as ir spells it.
	Name string `json:"name,omitempty"`
	Kind string `json:"kind,omitempty"`
	// Item names the member of a list that an instance of a for_each works on, as JSON that is cut at [MaxItem] characters; "" if nothing
	// names it. Members is the number of instances of a for_each. Both come with a transition of the node to running, or to its end.
	Item    string `json:"item,omitempty"`
	Members int    `json:"members,omitempty"`
}

// MaxItem bounds the name of an item, in characters, with its quotes.
const MaxItem = 42

// WaitsFor is what a waiting node waits for.
type WaitsFor struct {
	Kind WaitKind `json:"kind"`
	Name string   `json:"name"`
	// Until is when the wait ends at the latest; 0: nobody knows.
	Until Time `json:"until,omitempty"`
}

// Change is what a rule of adapt has changed.
type Change struct {
	// Rule is the number of the rule in its group or workflow, from 1. It is 0 where no rule is on any more.
	Rule int
	// What is max_concurrency, and From and To are numbers; or it is workflow, and Run is the run that was started, To its workflow.
	What     string
	From, To value.Value
	Run      string
	// Why is the condition with the values that it has read.
	Why string
}

// Result makes the change the output of a result: an object of rule, what, from, to, run and why.
func (c *Change) Result() *Result {
	return &Result{ExitCode: -1, Output: map[string]any{"rule": float64(c.Rule), "what": c.What, "from": c.From, "to": c.To, "run": c.Run, "why": c.Why}}
}

// Change returns what a rule of adapt has changed; nil for other transitions.
func (t *Transition) Change() *Change {
	if t.Note != Adapted || t.Result == nil {
		return nil
	}
	o, _ := t.Result.Output.(map[string]any)
	rule, _ := o["rule"].(float64)
	c := &Change{Rule: int(rule), From: o["from"], To: o["to"]}
	c.What, _ = o["what"].(string)
	c.Run, _ = o["run"].(string)
	c.Why, _ = o["why"].(string)
	return c
}

// What a rule of adapt changes.
const (
	ChangeConcurrency = "max_concurrency"
	ChangeWorkflow    = "workflow"
)

// Note is something that happens to a node without changing its status. The set is closed.
type Note string

// The notes. A compensation that failed has its own result with it, which is not the node's.
const (
	Compensating   Note = "compensating"
	Compensated    Note = "compensated"
	NotCompensated Note = "not_compensated"
	Progress       Note = "progress"  // a part of the node's deadline has passed
	Escalated      Note = "escalated" // the node has come to a level of its escalation
	Adapted        Note = "adapted"   // a rule of adapt has changed something
	Answered       Note = "answered"  // a person has answered, and the node waits for more answers
	Warned         Note = "warned"    // something that the file asks for could not be computed and counts as not there, or a budget is nearly spent
)

// Verdict is what a gate found.
type Verdict struct {
	Gate    string `json:"gate"`
	Passed  bool   `json:"passed"`
	Warning bool   `json:"warning,omitempty"` // not passed, but on_fail = "warn"
	Message string `json:"message,omitempty"`
	// Said is what the gate itself said, where Message is the file's.
	Said string `json:"said,omitempty"`
	// Evidence is what the verdict rests on; nil for a condition and a schema.
	Evidence *Evidence `json:"evidence,omitempty"`
}

// Evidence is what the verdict of a gate rests on. The zero value of a field means that there is none.
type Evidence struct {
	At       Time               `json:"at"`
	Ran      []string           `json:"ran,omitempty"`   // the program and its arguments, or the shell and its script, each bounded
	Judge    string             `json:"judge,omitempty"` // the agent that judged
	ExitCode *int               `json:"exit_code,omitempty"`
	Digest   string             `json:"digest,omitempty"` // SHA-256 of the answer, in hex: the standard output, or the output of the judge as JSON
	Scores   map[string]float64 `json:"scores,omitempty"`
	// Findings are the gravest, [MaxFindings] at most; More counts those that are left out.
	Findings []Finding `json:"findings,omitempty"`
	More     int       `json:"more,omitempty"`
	// Figure is what a benchmark has measured.
	Figure *Figure `json:"figure,omitempty"`
}

// Figure is a measured figure and what it was compared with.
type Figure struct {
	Name     string    `json:"name"` // of the baseline
	Metric   string    `json:"metric"`
	Median   float64   `json:"median"`
	Samples  []float64 `json:"samples"`
	Baseline *float64  `json:"baseline"`       // nil: there was none, and the median has become it
	Most     float64   `json:"most,omitempty"` // the highest figure that passes; 0 without a baseline
}

// MeasuredText is a measured figure with so many digits and its unit: seconds of a time, MiB of a memory.
func MeasuredText(metric string, figure float64, digits int) string {
	unit := ""
	switch metric {
	case ir.MetricTime:
		unit = " s"
	case ir.MetricMemory:
		figure, unit = float64(figure/(1<<20)), " MiB"
	}
	return strconv.FormatFloat(figure, 'g', digits, 64) + unit
}

// MaxFindings bounds the findings in one Evidence.
const MaxFindings = 20

// Finding is a fault that a judge, a program or a scan has found.
type Finding struct {
	Severity ir.Severity `json:"severity"`
	Message  string      `json:"message"`
	File     string      `json:"file,omitempty"`
	Line     int         `json:"line,omitempty"` // from 1; 0: none
}

// Words are the file's message and, below it, what the gate itself said.
func (v *Verdict) Words() string {
	if v.Said == "" {
		return v.Message
	}
	return v.Message + "\n" + v.Said
}

// Result is what is known of a node after its end.
type Result struct {
	// Long is the answer that has the streams beside the journal, if they are too long for it; Stdout and Stderr are then what the journal
	// has. The output is then a [Long], if it is too long. Whole gives the result with them.
	Long       *AttemptFinished `json:"-"`
	ExitCode   int              `json:"exit_code"` // -1 where there is none
	Stdout     string           `json:"stdout,omitempty"`
	Stderr     string           `json:"stderr,omitempty"`
	StdoutLog  string           `json:"stdout_log,omitempty"`
	StderrLog  string           `json:"stderr_log,omitempty"`
	Output     value.Value      `json:"output,omitempty"`
	Error      *Error           `json:"error,omitempty"`
	Attempts   int              `json:"attempts"`
	Agent      string           `json:"agent,omitempty"`
	StartedAt  Time             `json:"started_at,omitempty"`
	FinishedAt Time             `json:"finished_at,omitempty"`
	// Tolerated tells that the node failed and that this does not count against the run.
	Tolerated bool `json:"tolerated,omitempty"`
	// Winner is the name or key of the child that a join picked; Iterations counts those of a repeat. Zero: not applicable.
	Winner     string `json:"winner,omitempty"`
	Iterations int    `json:"iterations,omitempty"`
	// Partial tells that the output was handed in when the time of the attempt was up.
	Partial bool `json:"partial,omitempty"`
	// Usage is what its attempts used, and those of the nodes and runs in it; nil: nothing.
	Usage *Usage `json:"usage,omitempty"`
	// Escalated is the highest level of its escalation that the node has come to; "" if it has come to none.
	Escalated string `json:"escalated,omitempty"`
	// Reused tells that the result is that of the run that this one repeats, and Set that a person gave it when the run began. The node
	// made no attempt in this run.
	Reused bool `json:"reused,omitempty"`
	Set    bool `json:"set,omitempty"`
	// By names the person who gave the result; "" if the node came to it by itself.
	By string `json:"by,omitempty"`
}

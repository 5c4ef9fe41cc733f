// Package event is the vocabulary between a machine and its host: the events that go in (and are journaled), the
// commands that come out (and are carried out), and the transitions that follow (and are only shown).
//
// Events are the one thing that is stored. Their JSON is the journal's format: fields are added, never renamed or
// reused, and what is absent is left out. Commands and transitions are derived from events by the machine, again and
// again. Their JSON is complete, so that a host may hand them to another process. Commands enter the journal as a
// digest ([Reaction.AppendDigest]); transitions do not enter it.
//
// The package imports data types only (expressions are data too); it knows neither the machine nor any host.
package event

import (
	"time"

	"github.com/flowrun/flowrun/dsl/value"
)

// Time is a moment in nanoseconds since 1970 UTC; 0 means never. Machine time is the time of the event at hand.
type Time int64

// At converts a wall-clock moment.
func At(t time.Time) Time { return Time(t.UnixNano()) }

// Go converts back; the zero Time gives the zero time.Time.
func (t Time) Go() time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(t)).UTC()
}

// Add returns t moved by d.
func (t Time) Add(d time.Duration) Time { return t + Time(d) }

// Sub returns the time from u to t.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// String gives RFC 3339 with milliseconds in UTC, and "" for 0.
func (t Time) String() string {
	if t == 0 {
		return ""
	}
	return t.Go().Format("2006-01-02T15:04:05.000Z")
}

// Event is one input of a machine. Exactly one of the pointers is set. Seq counts from 1 without gaps; At never runs
// back within a run. Hosts assign both (engine.Fold does).
type Event struct {
	Seq uint64 `json:"seq"`
	At  Time   `json:"at"`

	RunStarted      *RunStarted      `json:"run_started,omitempty"`
	AttemptFinished *AttemptFinished `json:"attempt_finished,omitempty"`
	TimerFired      *TimerFired      `json:"timer_fired,omitempty"`
	External        *External        `json:"external,omitempty"`
	ChildFinished   *ChildFinished   `json:"child_finished,omitempty"`
	DriverChanged   *DriverChanged   `json:"driver_changed,omitempty"`
}

// Kind names what the event is, as the journal spells it.
func (e Event) Kind() string {
	switch {
	case e.RunStarted != nil:
		return "run_started"
	case e.AttemptFinished != nil:
		return "attempt_finished"
	case e.TimerFired != nil:
		return "timer_fired"
	case e.External != nil:
		return "external"
	case e.ChildFinished != nil:
		return "child_finished"
	case e.DriverChanged != nil:
		return "driver_changed"
	}
	return "nothing"
}

// Node is the path of the node that the event is about, or "".
func (e Event) Node() string {
	switch {
	case e.AttemptFinished != nil:
		return e.AttemptFinished.Node
	case e.TimerFired != nil:
		return e.TimerFired.Node
	case e.ChildFinished != nil:
		return e.ChildFinished.Node
	case e.External != nil:
		return e.External.Node
	}
	return ""
}

// RunStarted is always the first event, and carries all that the run depends on besides its program.
type RunStarted struct {
	Run      string                 `json:"run"`
	Workflow string                 `json:"workflow"`
	Inputs   map[string]value.Value `json:"inputs,omitempty"`
	Vars     map[string]value.Value `json:"vars,omitempty"` // of both, those that are not sensitive
	// Secrets are the sensitive variables and inputs, by the names under which they are read (var.token): where each came from,
	// and how to tell whether another value is the same.
	Secrets map[string]Secret `json:"secrets,omitempty"`
	// Late are the sensitive inputs of a run that another one called, by their names: how they are computed, for nothing of them
	// is kept.
	Late map[string]Late `json:"late,omitempty"`
	// Dir is the program's folder, absolute: where a step without dir runs.
	Dir string `json:"dir,omitempty"`
	// Program is the program's folder if the run works in another one, Dir: that of a worktree; "": it is Dir.
	Program string `json:"program,omitempty"`
	// Env is the allow-listed part of the environment (PATH, HOME, LANG …) that every attempt gets.
	Env map[string]string `json:"env,omitempty"`
	// Parallel, if not 0, is what the command line gave in place of the workflow's max_concurrency.
	Parallel int `json:"parallel,omitempty"`
	// FirstMembers lets the circle of each pool begin at the first member, and not where the run's id says.
	FirstMembers bool `json:"first_members,omitempty"`
	// Targets, if any, are the nodes that were asked for: they and all that they wait for run, the others are skipped.
	Targets []string `json:"targets,omitempty"`
	// Skip, if not empty, says why the run does nothing: all its nodes, and the run, end as skipped.
	Skip string `json:"skip,omitempty"`
	// Cancelled, if not empty, says why the run was cancelled before it began: all its nodes, and the run, end as cancelled.
	Cancelled string `json:"cancelled,omitempty"`
	// ExpectedUS is how long earlier runs let expect one execution of a node to take, in microseconds, by its declared name;
	// ExpectedTimes how often it is executed in all, where that is not once. With them what is furthest from the end of the
	// run starts first; they stand here so that a replay gives the same order.
	ExpectedUS    map[string]int64 `json:"expected_us,omitempty"`
	ExpectedTimes map[string]int   `json:"expected_times,omitempty"`
	// Parent is the run that called this one, and ParentNode the path of its node that did; empty for a run that was started
	// by hand. Depth counts the callers above.
	Parent     string `json:"parent,omitempty"`
	ParentNode string `json:"parent_node,omitempty"`
	Depth      int    `json:"depth,omitempty"`
	// Held are the quotas of which a caller holds units: see [StartChild].
	Held []string `json:"held,omitempty"`
	// Budget is what the budgets around the call had left when this run was called; nil: they bound nothing, or nobody called it.
	Budget *Bounds `json:"budget,omitempty"`
	// Asks is what was left of those of them that ask people for more; nil: none of them asks, or nobody called it.
	Asks *Asking `json:"asks,omitempty"`
	// RetryOf is the run that this one repeats, and Reused how nodes of that run ended, by their paths, which they end as here
	// without running again.
	RetryOf string             `json:"retry_of,omitempty"`
	Reused  map[string]*Reused `json:"reused,omitempty"`
	// Results are references to the parts of Reused that are too long for the journal. Whole gives the event with them.
	Results []*Artifact `json:"results,omitempty"`
	// Traceparent is the span outside flowrun whose child the span of the run is, as W3C's "Trace Context" has it; "": there is none.
	Traceparent string `json:"traceparent,omitempty"`
	// Cause is what started the run, if no person, call or retry alone did; see [RunStarted.CauseOf]. Without a kind it has the events alone.
	Cause *Cause `json:"cause,omitempty"`
	// Loop tells that the run is one of a loop, whose name Workflow is; nil: it is one of a workflow.
	Loop *LoopStart `json:"loop,omitempty"`
}

// LoopStart is how a run of a loop begins. The zero value goes on until somebody stops it.
type LoopStart struct {
	Number    uint64 `json:"number,omitempty"`     // of the run among those of the loop in the store, from 1; 0: it is not one of them
	Once      bool   `json:"once,omitempty"`       // each free place takes one item at most, and the run ends when these are done
	UntilIdle bool   `json:"until_idle,omitempty"` // the run ends when there is nothing to do
	// Carry is what the run before knew when it ended to let this one begin; nil: it begins anew.
	Carry value.Value `json:"carry,omitempty"`
}

// Reused is how a node ended in an earlier run, or as a person says that it ended. Of a group, a for_each as a whole, or an instance that holds other nodes, it says
// that all that lies in it ends as it did there, whatever a join, a timeout or a gate would say of it now.
type Reused struct {
	Status Status `json:"status"` // succeeded, failed, blocked or cancelled; skipped where a person skipped it
	// The rest is as in a Result. A group has an output where a join decided what belongs to it, or the group has a value.
	ExitCode   *int        `json:"exit_code,omitempty"` // nil: there is none
	Stdout     string      `json:"stdout,omitempty"`
	Stderr     string      `json:"stderr,omitempty"`
	StdoutLog  string      `json:"stdout_log,omitempty"`
	StderrLog  string      `json:"stderr_log,omitempty"`
	Output     value.Value `json:"output,omitempty"`
	Error      *Error      `json:"error,omitempty"`
	Attempts   int         `json:"attempts,omitempty"`
	Agent      string      `json:"agent,omitempty"`
	StartedAt  Time        `json:"started_at,omitempty"`
	FinishedAt Time        `json:"finished_at,omitempty"`
	Winner     string      `json:"winner,omitempty"`
	Iterations int         `json:"iterations,omitempty"`
	Escalated  string      `json:"escalated,omitempty"`
	By         string      `json:"by,omitempty"`
	// Set tells that a person gave the result in place of the earlier run: the node ends with it when its turn comes.
	Set bool `json:"set,omitempty"`
}

// Secret stands in a journal for a value that must not.
type Secret struct {
	// From is the place that the value was taken from, and is taken from again when the run goes on in another process: "env NAME",
	// "env-file PATH", "var-file PATH", "file PATH", "told" or "default"; see package given. Paths are absolute.
	From string `json:"from"`
	// Hash is PBKDF2-HMAC-SHA-256 in so many Rounds of the value as canonical JSON, with Salt, which is random and in hex. It tells
	// whether a value is the same, and whoever reads the journal needs as many rounds for each guess.
	Salt   string `json:"salt"`
	Rounds int    `json:"rounds"`
	Hash   string `json:"hash"`
	// Differs tells that the value is another one than the run before had: the one that is repeated, or this run until here.
	Differs bool `json:"differs,omitempty"`
}

// Outcome says how an attempt ended.
type Outcome string

// The outcomes. Lost is for an attempt that fell silent; a driver's death is DriverChanged. Refused is for an attempt that
// did not start, because what it needs of the store's shared resources was not free: the host sends ExternalGranted later, or the error's
// RetryAfter says when to ask again.
const (
	OK      Outcome = "ok"
	Failed  Outcome = "error"
	Lost    Outcome = "lost"
	Refused Outcome = "refused"
)

// Outcomes lists all outcomes.
var Outcomes = []Outcome{OK, Failed, Lost, Refused}

// AttemptFinished reports the end of an attempt. Ticket, Node, Attempt and Gate repeat the command's; a ticket that is
// not live any more (late, twice) is a recorded no-op.
type AttemptFinished struct {
	Ticket  uint64 `json:"ticket"`
	Node    string `json:"node"`
	Attempt int    `json:"attempt"`
	Gate    string `json:"gate,omitempty"`
	// Compensate tells that it was the node's compensation.
	Compensate bool    `json:"compensate,omitempty"`
	Outcome    Outcome `json:"outcome"`
	StartedAt  Time    `json:"started_at,omitempty"`
	// ExitCode is nil where there was no process or it ended by a signal.
	ExitCode *int `json:"exit_code,omitempty"`
	// Stdout is the whole standard output up to 1 MiB where the attempt's Parse asks for it, else bounded like Stderr:
	// head and tail with a mark between, 64 KiB in all.
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
	// StdoutLog and StderrLog name the files that hold the whole text, relative to the store, if it went beyond the bound.
	StdoutLog string `json:"stdout_log,omitempty"`
	StderrLog string `json:"stderr_log,omitempty"`
	// Output is an agent's result, or what a run step wrote to $FLOWRUN_OUTPUT; else the output of a run step is parsed from
	// Stdout by the machine.
	Output value.Value `json:"output,omitempty"`
	// Error is set for every outcome but OK.
	Error *Error `json:"error,omitempty"`
	// Resource is the name of the quota or agent that refused the attempt; "" if the attempt was not refused. The reason of the
	// error says what of it refused: quota (its units), busy, rate_limit or breaker.
	Resource string `json:"resource,omitempty"`
	// Recalled is what the memory gave the attempt, in the order in which the agent saw it, and Learned what the agent says that
	// it learned.
	Recalled []Recalled `json:"recalled,omitempty"`
	Learned  []Learned  `json:"learned,omitempty"`
	// Warning is what did not go as the file asks, and does not count as a failure: a memory that cannot be had.
	Warning string `json:"warning,omitempty"`
	// Usage is what the agent says that the attempt used; nil if it says nothing.
	Usage *Usage `json:"usage,omitempty"`
	// Partial is what an attempt that failed had given until then: the last partial output of an agent, or its result after its
	// time was up; what a program wrote to $FLOWRUN_OUTPUT. Nil: nothing.
	Partial value.Value `json:"partial,omitempty"`
	// Session is the session of the agent in which the next attempt can go on, of an attempt that broke off, or of an agent that keeps its session;
	// "": there is none.
	Session string `json:"session,omitempty"`
	// Artifact is a reference to those of Stdout, Stderr, Output and Partial that are too long for the journal; nil: none is. Whole
	// gives the answer with them.
	Artifact *Artifact `json:"artifact,omitempty"`
	// Short is the answer as the journal has it, of an answer that Whole gave; nil where that is the answer itself.
	Short *AttemptFinished `json:"-" snapshot:"-"`
}

// Error is why an attempt or a node failed. The zero value of a field means it does not apply, but ExitCode, where -1 does.
type Error struct {
	Kind       ErrorKind `json:"kind"`
	Reason     Reason    `json:"reason,omitempty"`
	Message    string    `json:"message"`
	Status     int       `json:"status,omitempty"` // of HTTP
	ExitCode   int       `json:"exit_code"`
	Signal     string    `json:"signal,omitempty"`
	Gate       string    `json:"gate,omitempty"`
	Node       string    `json:"node,omitempty"`
	Attempt    int       `json:"attempt,omitempty"`
	RetryAfter float64   `json:"retry_after,omitempty"` // seconds
}

// NeverBegan reports whether an attempt that was asked for at a time was carried out by nobody, because the driver before had gone by then: what
// people decide meanwhile is journaled by the next driver, in front of its change. False where Since is 0.
func (d *DriverChanged) NeverBegan(asked Time) bool { return d.Since != 0 && asked > d.Since }

// TimerFired reports that a timer's time has come. A timer that was cancelled, or has another generation, is a recorded no-op.
type TimerFired struct {
	Timer uint64 `json:"timer"`
	Node  string `json:"node,omitempty"`
}

// ExternalKind names what a message from outside is. The list is closed: a machine knows some kinds, a host puts no other kind into
// an inbox, and a machine that gets a kind that it does not know returns an error.
type ExternalKind string

// The kinds that every host knows.
const (
	// ExternalCancel asks for the run's end. It concerns the whole run and carries no data.
	ExternalCancel ExternalKind = "cancel"
	// ExternalCancelNode asks for the end of one node, by its path, and of all nodes below it, detached ones too; the run goes on. Its data is an object
	// of by, the name of the person.
	ExternalCancelNode ExternalKind = "cancel_node"
	// ExternalGranted tells a node that its refused attempt may start now. Only the host sends it. Its data is the number of the
	// attempt's ticket.
	ExternalGranted ExternalKind = "granted"
	// ExternalEvent is an event whose name the run waits for. Only the host sends it. Its data is an object of id, name, at, source
	// and data, and of dropped: how many older events the inbox had no room for, absent if none.
	ExternalEvent ExternalKind = "event"
	// ExternalMetrics are figures of the machine, for a run that reads them. Only the host sends it. Its data is an object of cpu and
	// memory, in percent; one that is absent is as it was, one that is null is not known.
	ExternalMetrics ExternalKind = "metrics"
	// ExternalDecision is what a person decides for a node that waits for it. Only the host sends it. Its data is a [Decision].
	ExternalDecision ExternalKind = "decision"
	// ExternalWake tells a loop that something has changed which concerns it: ask again. Only the host sends it. Its data is a
	// [Wake].
	ExternalWake ExternalKind = "wake"
	// ExternalSession says in which session of its agent an attempt works: if the attempt begins again, it goes on there. Only the host sends
	// it. Its data is an object of ticket and session.
	ExternalSession ExternalKind = "session"
)

// External is a message from outside the run, taken from the run's inbox.
type External struct {
	Inbox  int64        `json:"inbox,omitempty"` // the number of the message in the inbox, so that no message is taken twice
	Kind   ExternalKind `json:"kind"`
	Node   string       `json:"node,omitempty"` // the path of the node that the message is for; "" for the run
	Data   value.Value  `json:"data,omitempty"` // nil: the message carries no data
	Reason string       `json:"reason,omitempty"`
	// Artifact is a reference to the data of an event that are too long for the journal. Whole gives the message with them.
	Artifact *Artifact `json:"artifact,omitempty"`
}

// NodeCancel is the cancel of one node by a person.
type NodeCancel struct {
	By     string // "somebody" if nobody is named
	Reason string // "" for none
}

// External returns the message that asks for the end of the node with a path.
func (c NodeCancel) External(path string) External {
	x := External{Kind: ExternalCancelNode, Node: path, Reason: c.Reason}
	if c.By != "" {
		x.Data = map[string]any{"by": c.By}
	}
	return x
}

// NodeCancelOf returns what a message of the kind [ExternalCancelNode] says.
func NodeCancelOf(x *External) NodeCancel {
	c := NodeCancel{By: "somebody", Reason: x.Reason}
	if o, _ := x.Data.(map[string]any); o != nil {
		if by, _ := o["by"].(string); by != "" {
			c.By = by
		}
	}
	return c
}

// Words says who cancelled what, and why: "ann cancelled it: too slow".
func (c NodeCancel) Words(what string) string {
	text := c.By + " cancelled"
	if what != "" {
		text += " " + what
	}
	if c.Reason != "" {
		text += ": " + c.Reason
	}
	return text
}

// SessionExternal returns the message that an attempt works in a session of its agent.
func SessionExternal(a *Attempt, session string) External {
	return External{Kind: ExternalSession, Node: a.Node, Data: map[string]any{"ticket": float64(a.Ticket), "session": session}}
}

// SessionOf returns what a message of the kind [ExternalSession] says; ticket 0: nothing.
func SessionOf(x *External) (ticket uint64, session string) {
	o, _ := x.Data.(map[string]any)
	number, _ := o["ticket"].(float64)
	if session, _ = o["session"].(string); session == "" || number < 1 || number >= 1<<53 {
		return 0, ""
	}
	return uint64(number), session
}

// ChildFinished reports the end of a child run, once and after the child's own journal is durable. One whose node has
// moved on is a recorded no-op.
type ChildFinished struct {
	Run     string                 `json:"run"` // the child's id
	Node    string                 `json:"node"`
	Status  Status                 `json:"status"` // succeeded, failed or cancelled
	Outputs map[string]value.Value `json:"outputs,omitempty"`
	Error   *Error                 `json:"error,omitempty"`
	Usage   *Usage                 `json:"usage,omitempty"` // of the child with its own children; nil: nothing
	// Artifact is a reference to Outputs that are too long for the journal. Whole gives the end with them.
	Artifact *Artifact `json:"artifact,omitempty"`
}

// NobodyBefore is why a driver is new that is the first: nothing that the run asked for had been carried out.
const NobodyBefore = "nobody drove it before"

// DriverChanged tells that another process drives the run now. All attempts that were in flight with the driver before start again with the
// same number and key. Lost tells that the driver before died; a clean stop does not count towards DeathLimit.
type DriverChanged struct {
	Lost   bool   `json:"lost"`
	Driver int64  `json:"driver,omitempty"` // the new owner's epoch
	Why    string `json:"why,omitempty"`
	// Since is when the journal's last event of the driver before was: from then to this event nobody drove the run, and the clocks
	// of its groups and its own stood still.
	Since Time `json:"since,omitempty"`
	// DeathLimit is how many deaths in a row, with nothing journaled in between, fail the attempts that were in flight. 0 means 3.
	DeathLimit int `json:"death_limit,omitempty"`
	// Kept are the tickets of attempts that workers still carry out for the new driver. They were not lost with the driver before, and do not
	// start again.
	Kept []uint64 `json:"kept,omitempty"`
	// Secrets are those that have another value from here on, by the names under which they are read.
	Secrets map[string]Secret `json:"secrets,omitempty"`
}

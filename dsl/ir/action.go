package ir

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
)

// Action is what a step does. The package holds all types that implement it, one for each kind.
type Action interface {
	Kind() ActionKind
	action()
}

// ActionKind names a kind of action, as the member of a node's JSON does and mostly also the file.
type ActionKind string

// The kinds of actions.
const (
	RunAction      ActionKind = "run"
	AgentAction    ActionKind = "agent"
	ValueAction    ActionKind = "value"
	CallAction     ActionKind = "call"
	HTTPAction     ActionKind = "http"
	RememberAction ActionKind = "remember"
	RecallAction   ActionKind = "recall"
	KVAction       ActionKind = "kv"
	EmitAction     ActionKind = "emit"
	SyncAction     ActionKind = "sync"
	NotifyAction   ActionKind = "notify"
	HandoffAction  ActionKind = "handoff"
	WaitAction     ActionKind = "wait"
	ApproveAction  ActionKind = "approve"
	FailAction     ActionKind = "fail"
	EndAction      ActionKind = "end"
)

// actions are the members of a node's JSON that hold its action. One of them is set in a step, none in a group. The struct is the
// list of all actions: what is not in it can be neither stored nor loaded.
type actions struct {
	Run      *Run       `json:"run,omitempty"`
	Agent    *AgentTask `json:"agent,omitempty"`
	Value    *Value     `json:"value,omitempty"`
	Call     *Call      `json:"call,omitempty"`
	HTTP     *HTTP      `json:"http,omitempty"`
	Remember *Remember  `json:"remember,omitempty"`
	Recall   *Recall    `json:"recall,omitempty"`
	KV       *KV        `json:"kv,omitempty"`
	Emit     *Emit      `json:"emit,omitempty"`
	Sync     *Sync      `json:"sync,omitempty"`
	Notify   *Notify    `json:"notify,omitempty"`
	Handoff  *Handoff   `json:"handoff,omitempty"`
	Wait     *Wait      `json:"wait,omitempty"`
	Approve  *Approve   `json:"approve,omitempty"`
	Fail     *Fail      `json:"fail,omitempty"`
	End      *End       `json:"end,omitempty"`
}

func (*Run) Kind() ActionKind       { return RunAction }
func (*AgentTask) Kind() ActionKind { return AgentAction }
func (*Value) Kind() ActionKind     { return ValueAction }
func (*Call) Kind() ActionKind      { return CallAction }
func (*HTTP) Kind() ActionKind      { return HTTPAction }
func (*Remember) Kind() ActionKind  { return RememberAction }
func (*Recall) Kind() ActionKind    { return RecallAction }
func (*KV) Kind() ActionKind        { return KVAction }
func (*Emit) Kind() ActionKind      { return EmitAction }
func (*Sync) Kind() ActionKind      { return SyncAction }
func (*Notify) Kind() ActionKind    { return NotifyAction }
func (*Handoff) Kind() ActionKind   { return HandoffAction }
func (*Wait) Kind() ActionKind      { return WaitAction }
func (*Approve) Kind() ActionKind   { return ApproveAction }
func (*Fail) Kind() ActionKind      { return FailAction }
func (*End) Kind() ActionKind       { return EndAction }

func (*Run) action()       {}
func (*AgentTask) action() {}
func (*Value) action()     {}
func (*Call) action()      {}
func (*HTTP) action()      {}
func (*Remember) action()  {}
func (*Recall) action()    {}
func (*KV) action()        {}
func (*Emit) action()      {}
func (*Sync) action()      {}
func (*Notify) action()    {}
func (*Handoff) action()   {}
func (*Approve) action()   {}
func (*Wait) action()      {}
func (*Fail) action()      {}
func (*End) action()       {}

// Course is how the steps of a kind are carried out.
type Course int

// The courses. The zero value is the course of a kind that nobody knows.
const (
	Computed  Course = iota + 1 // by the machine, at once: no time, no slot, one try
	Pausing                     // by a timer, an event or a decision: no slot, one try
	Attempted                   // by attempts of executors: each holds a slot, and a failed one can be tried again
	Called                      // by a run of another workflow: no slot of this run; a failed one can be tried again
	Stored                      // by an attempt that the host answers from what runs share: no slot, one try
)

// Course returns how steps of the kind are carried out.
func (k ActionKind) Course() Course {
	switch k {
	case RunAction, AgentAction, HTTPAction, RememberAction, RecallAction:
		return Attempted
	case KVAction, EmitAction, SyncAction, NotifyAction, HandoffAction:
		return Stored
	case CallAction:
		return Called
	case WaitAction, ApproveAction:
		return Pausing
	case ValueAction, FailAction, EndAction:
		return Computed
	}
	return 0
}

// Retried reports whether a failed try of such an action can be followed by another one.
func (k ActionKind) Retried() bool { c := k.Course(); return c == Attempted || c == Called }

// Outward reports whether a step with such an action deals with something outside of its run: a program, a service, people, time. Only such
// a step can have a compensation, and fail in a way that an escalation or a rule of classify is for.
func (k ActionKind) Outward() bool {
	return k.Retried() || k.Course() == Stored || k.Course() == Pausing
}

// Judged reports whether a step with such an action has a result that gates can judge.
func (k ActionKind) Judged() bool { return k != FailAction && k != EndAction }

// ActionKinds lists all kinds of actions.
var ActionKinds = listKinds()

// members holds the number of the field of actions for each kind.
var members = map[ActionKind]int{}

func listKinds() (kinds []ActionKind) {
	t := reflect.TypeFor[actions]()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		kinds = append(kinds, ActionKind(name))
	}
	return kinds
}

func init() {
	for i, k := range ActionKinds {
		members[k] = i
	}
}

// CheckAction returns an error for a step without an action, for a group with one, and for an action of a kind that is not in
// [ActionKinds]. It does not look at the node's children.
func CheckAction(n *Node) error {
	switch {
	case n.Action == nil && n.Kind == Step:
		return fmt.Errorf("step %q has no action that this release knows", n.Name)
	case n.Action == nil:
		return nil
	case n.Kind != Step:
		return fmt.Errorf("node %q of kind %s has the action %s; only steps have one", n.Name, n.Kind, n.Action.Kind())
	}
	if _, known := members[n.Action.Kind()]; !known {
		return fmt.Errorf("step %q has the action %q, which this release does not know", n.Name, n.Action.Kind())
	}
	return nil
}

// Value computes an output and touches nothing.
type Value struct{ Expr }

// Call starts a run of another workflow of the program. With is an object of its inputs; its outputs are the output.
type Call struct {
	Workflow string `json:"workflow"`
	With     *Expr  `json:"with,omitempty"`
	// Inputs are, in place of With, the members of an object that is written out and reads secrets: those that do are left
	// to the host.
	Inputs map[string]*Expr `json:"inputs,omitempty"`
}

// HTTP is one request. The output is an object of status, headers (by lower-case name) and body, which is decoded where
// it is JSON and a text otherwise.
type HTTP struct {
	URL     Expr  `json:"url"`
	Method  *Expr `json:"method,omitempty"`  // "GET", or "POST" where there is a body
	Headers *Expr `json:"headers,omitempty"` // an object or map of texts
	Query   *Expr `json:"query,omitempty"`   // an object or map of texts, numbers and bools
	Body    *Expr `json:"body,omitempty"`    // a text as it is; anything else as JSON
	Expect  *Expr `json:"expect,omitempty"`  // a list of status codes; nil: 200 to 299
	Follow  *Expr `json:"follow,omitempty"`  // how many redirects; nil: none
	MaxBody *Expr `json:"max_bytes,omitempty"`
}

// Fail ends its node as failed. An empty ErrorKind means Blocking.
type Fail struct {
	Message   *Expr     `json:"message,omitempty"`
	ErrorKind ErrorKind `json:"kind,omitempty"`
	Reason    string    `json:"reason,omitempty"` // "": fail
	Group     bool      `json:"group,omitempty"`  // the group around fails with the error at once
}

// End ends the run.
type End struct {
	Status  EndStatus `json:"status,omitempty"`
	Message *Expr     `json:"message,omitempty"`
}

// Parse says how standard output becomes a node's output.
type Parse string

// The ways to parse. The zero value means ParseText.
const (
	ParseText  Parse = "text"  // the text without trailing newlines
	ParseJSON  Parse = "json"  // one JSON value
	ParseLines Parse = "lines" // a list of lines
	ParseNone  Parse = "none"  // null
)

// Parses lists all ways to parse.
var Parses = []Parse{ParseText, ParseJSON, ParseLines, ParseNone}

// UnmarshalText refuses a way that is not in [Parses].
func (p *Parse) UnmarshalText(text []byte) error { return read(p, text, "parse", Parses) }

// Run is a program with arguments (Argv, a list of strings), or a script for a shell (Script); one of the two.
type Run struct {
	Argv   *Expr  `json:"argv,omitempty"`
	Script *Expr  `json:"script,omitempty"`
	Shell  string `json:"shell,omitempty"` // "" means sh -e
	Parse  Parse  `json:"parse,omitempty"`
	// Values are what stands in ${} in Script, which is then a constant that refers to the i-th as $FLOWRUN_Vi.
	Values []Expr `json:"values,omitempty"`
	Stdin  *Expr  `json:"stdin,omitempty"` // a text; nil: the null device
	// OutputFile tells that what the program writes to the file $FLOWRUN_OUTPUT becomes the output, in place of what Parse makes.
	OutputFile bool `json:"output_file,omitempty"`
}

// AgentTask hands a task to an agent.
type AgentTask struct {
	Assignee
	// If, where it is given, decides between the assignee and Else when the step has its turn.
	If   *Expr     `json:"if,omitempty"`
	Else *Assignee `json:"else,omitempty"`
	// Capabilities are what every agent must have that is given the task.
	Capabilities []string `json:"capabilities,omitempty"`
	Task         *Expr    `json:"task,omitempty"`
	With         *Expr    `json:"with,omitempty"`
	// Feedback is what the agent is told of earlier work until a gate of the step has said something.
	Feedback *Expr `json:"feedback,omitempty"`
}

// Assignee says who is given a task: an agent, or a pool.
type Assignee struct {
	Agent string `json:"agent,omitempty"`
	// Pool is set instead of Agent. The member is the one that Member names when the step has its turn; without Member the strategy of
	// the pool chooses one when the attempt gets its slot.
	Pool   string `json:"pool,omitempty"`
	Member *Expr  `json:"member,omitempty"`
}

// Wait is a durable pause: for an event, for a time, or until a moment.
type Wait struct {
	// Event is the name of the event. Match is a condition over event, the data, that the event must meet; nil: every event does. Data
	// is the type of the data; nil: any. Timeout bounds the wait; nil: nothing does. The output is the data.
	Event    string      `json:"event,omitempty"`
	Match    *Expr       `json:"match,omitempty"`
	Data     *value.Type `json:"data,omitempty"`
	Timeout  *Expr       `json:"timeout,omitempty"`
	Duration *Expr       `json:"duration,omitempty"`
	At       *Expr       `json:"at,omitempty"` // a moment in RFC 3339; one that has passed does not wait
}

// Verdict is what an approval comes to when nobody has decided in time.
type Verdict string

// The verdicts. The zero value means RejectByDefault.
const (
	RejectByDefault  Verdict = "reject"
	ApproveByDefault Verdict = "approve"
)

// Verdicts lists all verdicts.
var Verdicts = []Verdict{RejectByDefault, ApproveByDefault}

// UnmarshalText refuses a verdict that is not in [Verdicts].
func (v *Verdict) UnmarshalText(text []byte) error { return read(v, text, "verdict", Verdicts) }

// Approve waits for the decision of people. The output is an object of decision, by, comment, at and input.
type Approve struct {
	Prompt     Expr       `json:"prompt"`
	Show       *Expr      `json:"show,omitempty"`       // what the people decide about; nil: null
	Approvers  *Expr      `json:"approvers,omitempty"`  // a list of names; nil or empty: everybody
	Quorum     *Expr      `json:"quorum,omitempty"`     // nil: 1
	Rejections *Expr      `json:"rejections,omitempty"` // nil: 1
	Inputs     []Variable `json:"inputs,omitempty"`     // what an approval says besides
	Timeout    *Expr      `json:"timeout,omitempty"`    // from the beginning of the wait; nil: nothing bounds it
	Default    Verdict    `json:"default,omitempty"`    // at the timeout
	Notify     []string   `json:"notify,omitempty"`     // channels
	Revise     string     `json:"revise,omitempty"`     // the node that a revision begins with; "": there are no revisions
	Revisions  *Expr      `json:"revisions,omitempty"`  // how many there can be; nil: 5
}

// Emit publishes an event. The output is an object of id and duplicate.
type Emit struct {
	Event string `json:"event"`
	Data  *Expr  `json:"data,omitempty"` // nil: null
	Key   *Expr  `json:"key,omitempty"`  // nil: each emission is an event
	Run   *Expr  `json:"run,omitempty"`  // nil: all runs that wait for the event get it
}

// Sync checks in at a sync point as a party, and waits until all needed parties are ready. The output is an object of checked_in and
// last.
type Sync struct {
	Point   Expr  `json:"point"`
	As      Expr  `json:"as"`
	Needs   Expr  `json:"needs"`
	Ready   *Expr `json:"ready,omitempty"` // nil: true
	Reason  *Expr `json:"reason,omitempty"`
	Timeout *Expr `json:"timeout,omitempty"` // nil: nothing bounds the wait
}

// KVOperation says what a kv step does.
type KVOperation string

// The operations.
const (
	KVGet    KVOperation = "get"    // the value of a key, or null
	KVSet    KVOperation = "set"    // writes a value
	KVIncr   KVOperation = "incr"   // adds a number to a number
	KVCAS    KVOperation = "cas"    // writes a value if the key has the expected one
	KVDelete KVOperation = "delete" // removes a key
	KVScan   KVOperation = "scan"   // the keys with a prefix and their values
)

// KVOperations lists all operations.
var KVOperations = []KVOperation{KVGet, KVSet, KVIncr, KVCAS, KVDelete, KVScan}

// UnmarshalText refuses an operation that is not in [KVOperations].
func (o *KVOperation) UnmarshalText(text []byte) error {
	return read(o, text, "operation of kv", KVOperations)
}

// KV reads or changes one key of the state that runs share, or lists keys.
type KV struct {
	Operation KVOperation `json:"operation"`
	Key       Expr        `json:"key"` // of scan: the prefix of the keys
	Value     *Expr       `json:"value,omitempty"`
	By        *Expr       `json:"by,omitempty"`  // nil: 1
	Old       *Expr       `json:"old,omitempty"` // nil: the key has no value
	TTL       *Expr       `json:"ttl,omitempty"` // nil: the value does not expire
	Limit     *Expr       `json:"limit,omitempty"`
	Namespace *Expr       `json:"namespace,omitempty"` // nil: "default"
}

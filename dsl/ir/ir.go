// Package ir is the core program: what a checked workflow file becomes, and all that the machine ever sees of it.
//
// A Program is plain data without source positions. Its canonical JSON is stored with every run that it started and
// [Program.Hash] pins the run to it, so editing a file never changes a run in flight, and a stored program loads
// without parsing HCL: expressions are kept as text with the names they read and their type, and are parsed again on
// first use by whoever implements [Evaluator].
//
// The package knows no HCL, no expr-lang, no files. Fields that a program does not use are left out of the JSON, so a
// later release can add fields without changing the hash of programs that don't use them.
package ir

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/flowrun/flowrun/dsl/value"
)

// Behaviour is the number of the rules by which a program of this form is interpreted: the IR's meaning, the function
// table, and the versions of hcl, cty and expr. It stands in the header of every journal. A test of the module compares
// go.mod with the versions that this number was given for.
const Behaviour = 1

// Program is everything that one file or folder declares, lowered.
type Program struct {
	Variables []Variable `json:"variables,omitempty"`
	Locals    []Local    `json:"locals,omitempty"`
	Agents    []Agent    `json:"agents,omitempty"`
	Gates     []Gate     `json:"gates,omitempty"`
	Workflows []Workflow `json:"workflows,omitempty"`
	// Files are the contents that file("PATH") stands for, by the path as it is written. They were read with the program.
	Files map[string]string `json:"files,omitempty"`
}

// Variable is a value given from outside when a run starts. Default nil with HasDefault unset means it is required.
type Variable struct {
	Name       string      `json:"name"`
	Type       value.Type  `json:"type"`
	HasDefault bool        `json:"has_default,omitempty"`
	Default    value.Value `json:"default,omitempty"`
	// Enum, if given, lists the values that it may have.
	Enum []value.Value `json:"enum,omitempty"`
	// Validation are conditions over the value itself, each asked before a run starts.
	Validation []Require `json:"validation,omitempty"`
	// Sensitive tells that the value must not reach the journal, a log or the screen.
	Sensitive bool `json:"sensitive,omitempty"`
}

// Require is a condition that must hold before something starts, and what to say where it does not; a nil Message says
// the condition.
type Require struct {
	Condition Expr  `json:"condition"`
	Message   *Expr `json:"message,omitempty"`
}

// Local is a named expression over variables and other locals. It is evaluated once a run, when first read.
type Local struct {
	Name string `json:"name"`
	Expr Expr   `json:"expr"`
}

// Workflow is a named graph of nodes.
type Workflow struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Default     bool   `json:"default,omitempty"`
	// MaxConcurrency bounds the attempts of a run that are live at once; nil means 8.
	MaxConcurrency *Expr `json:"max_concurrency,omitempty"`
	// Timeout runs from the start of the run; a run that it ends is failed, not retried.
	Timeout *Expr      `json:"timeout,omitempty"`
	Inputs  []Variable `json:"inputs,omitempty"`
	Nodes   []Node     `json:"nodes,omitempty"` // the top level, in file order
	Outputs []Output   `json:"outputs,omitempty"`
	// Defaults for every node in the workflow.
	Retry *Retry           `json:"retry,omitempty"`
	Env   map[string]*Expr `json:"env,omitempty"`
	Dir   *Expr            `json:"dir,omitempty"`
	// PassEnv names variables of the caller's environment that programs get besides what they get anyway.
	PassEnv []string `json:"pass_env,omitzero"`
	// Require is asked before the first node starts.
	Require []Require `json:"require,omitempty"`
	// Concurrency bounds how runs of one group overlap.
	Concurrency *Concurrency `json:"concurrency,omitempty"`
	// Finally runs at the end, whatever happened: its nodes one after the other, each as with the rule "always".
	Finally *Finally `json:"finally,omitempty"`
}

// Finally is what a run does last.
type Finally struct {
	Timeout *Expr  `json:"timeout,omitempty"` // nil means 5m
	Nodes   []Node `json:"nodes"`
}

// Concurrency says that of the runs whose Group is the same text one is active at a time, and what another one does.
type Concurrency struct {
	Group    Expr   `json:"group"`               // a text over var, local and input
	WhenBusy string `json:"when_busy,omitempty"` // "queue" (default), "skip" or "cancel_previous"
}

// Output is one named result of a workflow.
type Output struct {
	Name string `json:"name"`
	Expr Expr   `json:"expr"`
}

// NodeKind says what a node is.
type NodeKind string

// The node kinds: a handful, and no more. Everything else in the language is lowered to them.
const (
	Step     NodeKind = "step"     // exactly one of Run, Agent, Value, Call, HTTP, Wait, Fail, End
	Sequence NodeKind = "sequence" // Children, each after the one before
	Parallel NodeKind = "parallel" // Children, at once
	Switch   NodeKind = "switch"   // Children of the first of Cases that holds, at once; the others are skipped
)

// Node is one unit of a workflow. Names are unique in the workflow.
type Node struct {
	Name string   `json:"name"`
	Kind NodeKind `json:"kind"`

	// Needs are the nodes whose success this one waits for by its trigger rule; Observes are those whose end it waits
	// for, whatever the end. Both are inferred from references and depends_on, sorted, without repeats, and disjoint. The order of a
	// sequence is not in here: the machine knows it from the tree.
	Needs    []string `json:"needs,omitempty"`
	Observes []string `json:"observes,omitempty"`

	// TriggerRule says which ends of the nodes that this one waits for let it go. Empty means NoneFailed over Needs, with
	// Observes awaited and not judged; a rule that is written judges both.
	TriggerRule TriggerRule `json:"trigger_rule,omitempty"`

	When *Expr `json:"when,omitempty"`
	// ForEach makes an instance of the node for each member of a list, set or map.
	ForEach *Expr `json:"for_each,omitempty"`
	// MaxConcurrency bounds the attempts that are live at once below this node (group or for_each).
	MaxConcurrency *Expr `json:"max_concurrency,omitempty"`
	// Timeout bounds one attempt of an action, without queueing and gates; of a group, the time from its first start.
	Timeout *Expr    `json:"timeout,omitempty"`
	Retry   *Retry   `json:"retry,omitempty"`
	Gates   []string `json:"gates,omitempty"` // names in Program.Gates, in order
	// Output, if given, is what the node's output must be; the output is converted to it strictly.
	Output *value.Type      `json:"output,omitempty"`
	Env    map[string]*Expr `json:"env,omitempty"`
	Dir    *Expr            `json:"dir,omitempty"`

	Run   *Run       `json:"run,omitempty"`
	Agent *AgentTask `json:"agent,omitempty"`
	Value *Expr      `json:"value,omitempty"`
	Wait  *Wait      `json:"wait,omitempty"`

	// Join says when a parallel or for_each has enough; nil means all.
	Join *Join `json:"join,omitempty"`
	// Losers says what becomes of the rest then; empty means "wait" for a join of all and "cancel" for the others.
	Losers string `json:"losers,omitempty"` // wait | cancel | detach
	// Repeat makes the node again until a condition holds. It lies inside of for_each and outside of Retry.
	Repeat *Repeat `json:"repeat,omitempty"`
	// Require is asked after When, before the node starts.
	Require []Require `json:"require,omitempty"`
	// Deadline bounds the node in all, from its release to its end: queueing, attempts, backoffs and gates.
	Deadline *Deadline `json:"deadline,omitempty"`
	// Priority orders what waits for the same slots: a whole number from -1000 to 1000, or low (-10), normal (0), high (10),
	// critical (20). Groups hand it down; nil means 0.
	Priority *Expr `json:"priority,omitempty"`
	// Fallback are the agents that are asked, in this order, after Agent's retries are used up.
	Fallback []string `json:"fallback,omitempty"`
	// Degrade is the output that stands in for that of a node that failed, and so tolerates its failure.
	Degrade *Expr `json:"degrade,omitempty"`
	// OnError says what a failure means for others: "block" (default), "stop" or "continue".
	OnError string `json:"on_error,omitempty"`
	// OnLost says what becomes of an attempt whose driver died: "retry" (default) or "fail".
	OnLost string `json:"on_lost,omitempty"`
	// Compensate undoes what the node did, where the run fails or is cancelled after the node started an attempt.
	Compensate *Compensate `json:"compensate,omitempty"`
	// PassEnv names variables of the caller's environment; nil inherits those of the group.
	PassEnv []string `json:"pass_env,omitzero"`

	Call *Call `json:"call,omitempty"`
	HTTP *HTTP `json:"http,omitempty"`
	Fail *Fail `json:"fail,omitempty"`
	End  *End  `json:"end,omitempty"`

	Children []Node `json:"children,omitempty"`
	// Cases of a switch, in order. Case, in its children, is the number of the case that they belong to, from 1.
	Cases []Case `json:"cases,omitempty"`
	Case  int    `json:"case,omitempty"`
}

// TriggerRule is a rule over the ends of other nodes. Failed, blocked and cancelled count as failed; a failure that was
// tolerated does not keep NoneFailed and AllSuccess from holding, is no success for OneSuccess, and is a failure for
// OneFailed and AllFailed.
type TriggerRule string

// The trigger rules. OneSuccess and OneFailed hold as soon as one such end is there; the others wait for all.
const (
	NoneFailed TriggerRule = "none_failed"
	AllSuccess TriggerRule = "all_success"
	AllFailed  TriggerRule = "all_failed"
	AllDone    TriggerRule = "all_done"
	OneSuccess TriggerRule = "one_success"
	OneFailed  TriggerRule = "one_failed"
	Always     TriggerRule = "always" // AllDone that also runs while the run is being cancelled
)

// Join is exactly one of a word, a number of successes, or a condition over total, done, succeeded, failed, skipped
// and result, which is asked at each end.
type Join struct {
	Word      string `json:"word,omitempty"` // all | any | first_success
	Count     *Expr  `json:"count,omitempty"`
	Condition *Expr  `json:"condition,omitempty"`
}

// Repeat makes iterations. Until is asked after each, a failed one too; where it never holds within Max iterations, the
// node fails with the reason "limit". Without Until there are Max iterations, and the first that fails is the last.
type Repeat struct {
	Until *Expr `json:"until,omitempty"` // a condition over result, iteration and, in a group, its children
	Max   Expr  `json:"max"`
	Delay *Expr `json:"delay,omitempty"` // between iterations
}

// Deadline is when a node must have ended. Progress are percentages of After at which the node says that it still runs.
type Deadline struct {
	After    Expr      `json:"after"`
	Progress []float64 `json:"progress,omitempty"`
}

// Compensate is a program that is run once, without retries; its failure is recorded and changes nothing.
type Compensate struct {
	Run     Run              `json:"run"`
	Dir     *Expr            `json:"dir,omitempty"`
	Env     map[string]*Expr `json:"env,omitempty"`
	PassEnv []string         `json:"pass_env,omitzero"`
	Timeout *Expr            `json:"timeout,omitempty"`
}

// Case is one way that a switch can take. The default has no condition and is the last.
type Case struct {
	When *Expr `json:"when,omitempty"`
}

// Call starts a run of another workflow of the program. With is an object of its inputs; its outputs are the output.
type Call struct {
	Workflow string `json:"workflow"`
	With     *Expr  `json:"with,omitempty"`
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

// Fail ends its node as failed. Kind is an error's; empty means blocking.
type Fail struct {
	Message *Expr  `json:"message,omitempty"`
	Kind    string `json:"kind,omitempty"`
}

// End ends the run.
type End struct {
	Status  string `json:"status,omitempty"` // "succeeded" (default), "failed" or "cancelled"
	Message *Expr  `json:"message,omitempty"`
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
	Agent string `json:"agent"`
	Task  *Expr  `json:"task,omitempty"`
	With  *Expr  `json:"with,omitempty"`
}

// Wait is a durable pause; one of the two.
type Wait struct {
	Duration *Expr `json:"duration,omitempty"`
	At       *Expr `json:"at,omitempty"` // a moment in RFC 3339; one that has passed does not wait
}

// AgentType says how an agent is spoken to.
type AgentType string

// The agent types of this release.
const (
	AgentExec  AgentType = "exec"  // a program that speaks flowrun's JSON protocol, or plain text
	AgentShell AgentType = "shell" // a shell script; the request is in its environment and on its standard input
	AgentHTTP  AgentType = "http"  // the request is posted to a URL
	AgentNull  AgentType = "null"  // returns what it was given; no process
)

// Agent is one declared agent. Its expressions read var and local only.
type Agent struct {
	Name         string           `json:"name"`
	Type         AgentType        `json:"type"`
	Command      *Expr            `json:"command,omitempty"` // exec: a list of strings
	Run          *Expr            `json:"run,omitempty"`     // shell: a script
	Values       []Expr           `json:"values,omitempty"`  // what stands in ${} in it, as in Run.Values
	Shell        string           `json:"shell,omitempty"`
	Dir          *Expr            `json:"dir,omitempty"`
	Env          map[string]*Expr `json:"env,omitempty"`
	PassEnv      []string         `json:"pass_env,omitzero"`
	Input        string           `json:"input,omitempty"`         // "json" (default) or "text"
	OutputFormat string           `json:"output_format,omitempty"` // "json" (default) or "text"
	URL          *Expr            `json:"url,omitempty"`           // http
	Method       string           `json:"method,omitempty"`        // http; "" means POST
	Headers      *Expr            `json:"headers,omitempty"`       // http: an object or map of texts
	Concurrency  *Expr            `json:"concurrency,omitempty"`   // nil: no bound of its own
	Timeout      *Expr            `json:"timeout,omitempty"`
	Retry        *Retry           `json:"retry,omitempty"`
	Output       *value.Type      `json:"output,omitempty"`
}

// Retry says when a failed attempt is made again. Attributes merge singly: step over agent over workflow over the
// built-in defaults that runner/policy holds.
type Retry struct {
	MaxAttempts *Expr  `json:"max_attempts,omitempty"` // counts the first; 1 by default
	BaseDelay   *Expr  `json:"base_delay,omitempty"`   // durations are strings such as "1m30s"
	MaxDelay    *Expr  `json:"max_delay,omitempty"`
	Multiplier  *Expr  `json:"multiplier,omitempty"`
	Jitter      string `json:"jitter,omitempty"` // none | full | equal
	When        *Expr  `json:"when,omitempty"`   // a condition over error
}

// Gate judges the result of an attempt. A gate written inside a step has the name "WORKFLOW/STEP/GATE".
type Gate struct {
	Name    string           `json:"name"`
	Check   *Expr            `json:"check,omitempty"` // a condition over result
	Run     *Run             `json:"run,omitempty"`   // passes with exit code 0
	Dir     *Expr            `json:"dir,omitempty"`
	Env     map[string]*Expr `json:"env,omitempty"`
	Timeout *Expr            `json:"timeout,omitempty"`
	Message *Expr            `json:"message,omitempty"`
	// Schema is a JSON Schema (a value, or its text) that result.output must fit.
	Schema  *Expr    `json:"schema,omitempty"`
	PassEnv []string `json:"pass_env,omitzero"`
	OnFail  string   `json:"on_fail,omitempty"` // "fail" (default), "retry" (what it says becomes feedback) or "warn"
}

// ExprKind says in which language an expression is written.
type ExprKind string

// The kinds of expression. A Const has its value in Const and needs no evaluator.
const (
	Const     ExprKind = "const"
	HCL       ExprKind = "value"     // an HCL expression
	Condition ExprKind = "condition" // an expr-lang condition, or any expr-lang expression
)

// Expr is an expression kept as text. A *Expr that is nil is an attribute that was not given.
type Expr struct {
	Kind  ExprKind    `json:"kind"`
	Text  string      `json:"text,omitempty"`
	Const value.Value `json:"const,omitempty"`
	// Reads are the names that the expression can read, sorted, without repeats. An evaluation asks its scope for these
	// and no others.
	Reads []Ref      `json:"reads,omitempty"`
	Type  value.Type `json:"type"`
	// Sensitive tells that the expression reads a sensitive variable.
	Sensitive bool `json:"sensitive,omitempty"`
}

// Ref is one name that an expression reads. Root is var, local, input, step, last, each, run, attempt, iteration, previous,
// result, error or feedback; in a join also total, done, succeeded, failed or skipped. Name is the declared name below var,
// local, input, step and last (last.step.NAME has the name NAME), and the attribute below each, run, previous, result and
// error. Attr is the attribute of a step's result ("output", "status", …); empty means the whole result object. For
// attempt, iteration, feedback and the counts of a join both are empty. What lies below is not part of a Ref.
type Ref struct {
	Root string `json:"root"`
	Name string `json:"name,omitempty"`
	Attr string `json:"attr,omitempty"`
}

func (r Ref) String() string {
	s := r.Root
	if r.Name != "" {
		s += "." + r.Name
	}
	if r.Attr != "" {
		s += "." + r.Attr
	}
	return s
}

// Lit makes a constant expression.
func Lit(v value.Value, t value.Type) *Expr { return &Expr{Kind: Const, Const: v, Type: t} }

// Scope answers for the names that an expression reads. It returns null for what has no value (yet).
type Scope interface {
	Lookup(Ref) (value.Value, error)
}

// Evaluator computes expressions. It is pure: equal text and equal scope give equal results for one Behaviour number.
// It serves one machine, and like it one goroutine at a time. The result is converted to nothing: the caller knows what it
// needs. A Condition evaluates to a bool or fails.
type Evaluator interface {
	Eval(e *Expr, s Scope) (value.Value, error)
	// Conforms tells why a value does not fit a JSON Schema, which is a value or its text; nil if it does. An error that
	// names no place in the value is the schema's own.
	Conforms(schema, v value.Value) error
}

// Canonical returns the JSON that is hashed and stored.
func (p *Program) Canonical() []byte {
	b, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("ir: a program that is not JSON: %v", err)) // values are JSON by construction
	}
	return b
}

// Hash is the SHA-256 of the canonical JSON, in hex.
func (p *Program) Hash() string {
	sum := sha256.Sum256(p.Canonical())
	return hex.EncodeToString(sum[:])
}

// Load reads a program that Canonical wrote.
func Load(canonical []byte) (*Program, error) {
	p := new(Program)
	if err := json.Unmarshal(canonical, p); err != nil {
		return nil, fmt.Errorf("reading a stored program: %w", err)
	}
	return p, nil
}

// Workflow returns the workflow of a name, or nil.
func (p *Program) Workflow(name string) *Workflow {
	for i := range p.Workflows {
		if p.Workflows[i].Name == name {
			return &p.Workflows[i]
		}
	}
	return nil
}

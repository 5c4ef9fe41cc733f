package event

import (
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// Command is something that must happen in the world. Exactly one of the pointers is set.
type Command struct {
	Start       *Attempt       `json:"start,omitempty"`
	Cancel      *CancelAttempt `json:"cancel,omitempty"`
	SetTimer    *SetTimer      `json:"set_timer,omitempty"`
	CancelTimer *CancelTimer   `json:"cancel_timer,omitempty"`
	StartChild  *StartChild    `json:"start_child,omitempty"`
	CancelChild *CancelChild   `json:"cancel_child,omitempty"`
	Ask         *Ask           `json:"ask,omitempty"`
	EndAsk      *EndAsk        `json:"end_ask,omitempty"`
	End         *End           `json:"end,omitempty"`
}

// Node is the path of the node that a command is about, or "".
func (c *Command) Node() string {
	switch {
	case c.Start != nil:
		return c.Start.Node
	case c.Cancel != nil:
		return c.Cancel.Node
	case c.SetTimer != nil:
		return c.SetTimer.Node
	case c.StartChild != nil:
		return c.StartChild.Node
	case c.CancelChild != nil:
		return c.CancelChild.Node
	case c.Ask != nil:
		return c.Ask.Node
	case c.EndAsk != nil:
		return c.EndAsk.Node
	}
	return ""
}

// Late is an expression that the machine cannot compute, and all that it reads but the secrets themselves.
type Late struct {
	Place string  `json:"place,omitempty"` // of an attempt, see runner/request
	What  string  `json:"what,omitempty"`  // in words
	Expr  ir.Expr `json:"expr"`
	// Names holds what the expression reads, by [ir.Ref.String]. Secrets are missing. Locals holds the locals that read
	// some, as they are written; Inputs, the inputs that a caller computes so.
	Names  map[string]value.Value `json:"names,omitempty"`
	Locals map[string]ir.Expr     `json:"locals,omitempty"`
	Inputs map[string]Late        `json:"inputs,omitempty"`
	// An input that a caller computes is of this type, one of these values if there are any, and keeps these rules: conditions
	// that read it, too, each with what to say where it does not hold.
	Type    *value.Type   `json:"type,omitempty"`
	Enum    []value.Value `json:"enum,omitempty"`
	Rules   []Late        `json:"rules,omitempty"`
	Message string        `json:"message,omitempty"`
}

// HTTPRequest is the part of an attempt that is one HTTP request. For an agent of type http the host makes the body of the
// agent's request, and Body is empty. For an agent of type chat, URL is the base of its addresses.
type HTTPRequest struct {
	URL      string            `json:"url"` // with its query
	Method   string            `json:"method"`
	Headers  map[string]string `json:"headers,omitempty"`
	Body     string            `json:"body,omitempty"`
	Expect   []int             `json:"expect,omitempty"` // nil: 200 to 299
	Follow   int               `json:"follow,omitempty"` // redirects
	MaxBytes int               `json:"max_bytes,omitempty"`
}

// StartChild asks for a run of another workflow of the same program, with its own journal. The host answers with a
// ChildFinished when that run has ended; a run of this id that exists already is the one that is meant.
type StartChild struct {
	Run      string                 `json:"run"` // the child's id, which depends on the parent's id, the node and its generation
	Node     string                 `json:"node"`
	Workflow string                 `json:"workflow"`
	Inputs   map[string]value.Value `json:"inputs,omitempty"`
	// Held are the quotas of which the caller holds units while the child runs, by their names, sorted. The child takes no units of them.
	Held   []string        `json:"held,omitempty"`
	Late   map[string]Late `json:"late,omitempty"`   // the sensitive ones
	Budget *Bounds         `json:"budget,omitempty"` // what the run may use; nil: as much as it likes
	Asks   *Asking         `json:"asks,omitempty"`   // what the run may use before it asks; nil: it need not ask
	// Dir is the folder in which the run works, absolute; "": that of the caller.
	Dir string `json:"dir,omitempty"`
	// Cause is what started the run, if it is not the call.
	Cause *Cause `json:"cause,omitempty"`
}

// CancelChild asks for the child's cancel; its ChildFinished still comes. Asked again it changes nothing, but for Now,
// which asks what a second cancel asks: that the child ends at once.
type CancelChild struct {
	Run    string `json:"run"`
	Node   string `json:"node"`
	Now    bool   `json:"now,omitempty"`
	Reason string `json:"reason,omitempty"` // in words
}

// Admission names what an attempt needs, all or nothing.
type Admission struct {
	Needs    []Need `json:"needs"`
	Priority int    `json:"priority,omitempty"` // of those that wait for the same, the highest is served first
	// Classify gives an error another kind before breakers count it: the first rule that holds. The node has started at Since; 0: with this attempt.
	Classify []Classify `json:"classify,omitempty"`
	Since    Time       `json:"since,omitempty"`
}

// Classify gives the errors for which a condition over error, attempt and elapsed (in seconds) holds another kind.
type Classify struct {
	When Late         `json:"when"`
	Kind ir.ErrorKind `json:"kind"`
}

// Need is what an attempt needs of one thing that all runs of the store share: an agent, a quota, or a turn. Each part stands
// alone; a nil part asks for nothing.
type Need struct {
	Kind     NeedKind `json:"kind"`
	Name     string   `json:"name"`
	Units    int      `json:"units,omitempty"`    // how many units the attempt holds while it runs; 0: none
	Capacity int      `json:"capacity,omitempty"` // how many units there are, as the program says; 0: it has none
	// Pace bounds how many attempts start in a span of time.
	Pace *Pace `json:"pace,omitempty"`
	// Breaker keeps attempts from starting after failures in a row.
	Breaker *Breaker `json:"breaker,omitempty"`
	// Spending bounds what attempts use in a span of time.
	Spending *Spending `json:"spending,omitempty"`
}

// Spending allows attempts to use Most in any span of Per. A bound that is 0 bounds nothing.
type Spending struct {
	Most Bounds        `json:"most"`
	Per  time.Duration `json:"per"`
}

// Pace allows Requests starts in any span of Per.
type Pace struct {
	Requests int           `json:"requests"`
	Per      time.Duration `json:"per"`
}

// Breaker opens after Failures failures in a row, for Reset. When is a condition over error, attempt and elapsed (in seconds): an error
// for which it does not hold is not counted; nil: every error counts. The host asks it when an attempt has ended.
type Breaker struct {
	Failures int           `json:"failures"`
	Reset    time.Duration `json:"reset"`
	When     *Late         `json:"when,omitempty"`
	Tell     bool          `json:"tell,omitempty"` // people are told when it opens and closes
}

// AgentRequest is the part of an attempt that an agent carries out.
type AgentRequest struct {
	Name         string      `json:"name"`
	Type         string      `json:"type"` // as ir.AgentType spells it
	Task         string      `json:"task,omitempty"`
	With         value.Value `json:"with,omitempty"`
	Feedback     string      `json:"feedback,omitempty"`
	Handoff      *Handoff    `json:"handoff,omitempty"` // with which the work was handed over to this agent; nil: nobody did
	PassEnv      []string    `json:"pass_env,omitempty"`
	Input        string      `json:"input,omitempty"`
	OutputFormat string      `json:"output_format,omitempty"`
	// Heartbeat is the longest silence: an agent of which nothing is heard for longer is ended, and the answer is Lost. 0: any.
	Heartbeat time.Duration `json:"heartbeat,omitempty"`
	// Soul stands before the task, whole. Memory says what of the memory the agent is given, and what becomes of what it says;
	// nil: it has none.
	Soul   string     `json:"soul,omitempty"`
	Memory *MemoryUse `json:"memory,omitempty"`
	// Recalled is what the memory gave, as text. The host puts it here when the attempt starts.
	Recalled string `json:"recalled,omitempty"`
	// Tool is what an agent of type mcp calls; nil for other types.
	Tool *ToolRequest `json:"tool,omitempty"`
	// Chat says how the model is asked; nil: the agent is not of type chat. The address of its API and the headers of the file stand in
	// the HTTP of the attempt.
	Chat *ChatRequest `json:"chat,omitempty"`
	// ACP is what an agent of type acp may do; nil for other types.
	ACP *ir.ACP `json:"acp,omitempty"`
	// Servers are those whose tools an agent of type chat or acp may use.
	Servers []ToolServer `json:"servers,omitempty"`
	// Wanted is the type of the output, as a file has it, where an agent of type mcp, acp or a2a must answer in JSON, or an assistant
	// (output_format) in JSON or text; "" where a text, or all that an assistant prints, will do.
	Wanted string `json:"wanted,omitempty"`
	// Session is that of an earlier try at the same work that broke off: an agent of type acp goes on in it if it can, one of type exec with
	// ResumeSession, and for an agent of type a2a it is the task that is under way. "": there is none.
	Session string `json:"session,omitempty"`
	// NewSession, ResumeSession and KeepSession are those of [ir.Agent].
	NewSession    []string `json:"new_session,omitempty"`
	KeepSession   bool     `json:"keep_session,omitempty"`
	ResumeSession []string `json:"resume_session,omitempty"`
}

// ToolRequest names a tool of an MCP server. The arguments are With of the request.
type ToolRequest struct {
	Name string `json:"name"`
	// Pin is how the server must describe the tool: an object of name, title, description, inputSchema, outputSchema and annotations; nil:
	// in any words.
	Pin value.Value `json:"pin,omitempty"`
	// Describe asks for how the server describes the tool, as a pin has it, in place of a call.
	Describe bool `json:"describe,omitempty"`
}

// ChatRequest is how the model of a chat agent is asked.
type ChatRequest struct {
	Provider    ir.Provider `json:"provider"`
	API         ir.ChatAPI  `json:"api,omitempty"`
	Model       string      `json:"model"`
	Key         string      `json:"key,omitempty"`     // "": that in the environment variable KeyEnv, or none
	KeyEnv      string      `json:"key_env,omitempty"` // of the process that carries the attempt out
	MaxTokens   int         `json:"max_tokens,omitempty"`
	Temperature *float64    `json:"temperature,omitempty"`
	// Output is the type of the answer; nil: its text.
	Output *value.Type `json:"output,omitempty"`
	Prices *ChatPrices `json:"prices,omitempty"`
	// MaxTurns bounds the answers of a model that may use tools, ContextTokens what it is sent at once; 0: no bound.
	MaxTurns      int `json:"max_turns,omitempty"`
	ContextTokens int `json:"context_tokens,omitempty"`
	// Describe is the server that is asked how it describes its tools, in place of a conversation: the output is a list; "": none.
	Describe string `json:"describe,omitempty"`
}

// ToolServer is an MCP server whose tools an agent may use: a program, if URL is "".
type ToolServer struct {
	Name    string            `json:"name"`
	Argv    []string          `json:"argv,omitempty"`
	Dir     string            `json:"dir,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	PassEnv []string          `json:"pass_env,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Tools   []ToolRequest     `json:"tools,omitempty"`
}

// ChatPrices are dollars for a million tokens.
type ChatPrices struct {
	Input       float64 `json:"input"`
	CachedInput float64 `json:"cached_input"`
	Output      float64 `json:"output"`
}

// CancelAttempt asks to end a live attempt: TERM, grace, KILL. Its AttemptFinished still comes. An attempt that was refused leaves the
// line in which it waits for its grant, and no answer comes. A [HoldAttempt] that was answered with OK gives back what it holds, and no
// answer comes.
type CancelAttempt struct {
	Ticket uint64 `json:"ticket"`
	Node   string `json:"node"`
	Reason string `json:"reason,omitempty"` // in words
	// Leaves is the idempotency key of an attempt that may wait at a sync point, and leaves the point; "" for all others. The host
	// lets the attempt leave in the transaction that makes the event durable.
	Leaves string `json:"leaves,omitempty"`
}

// SetTimer asks for a TimerFired at or after Due. Timer counts from 1 over a run, so a number is never used again.
type SetTimer struct {
	Timer   uint64       `json:"timer"`
	Node    string       `json:"node,omitempty"` // "" for the run itself
	Due     Time         `json:"due"`
	Purpose TimerPurpose `json:"why"`
}

// CancelTimer takes a SetTimer back.
type CancelTimer struct {
	Timer uint64 `json:"timer"`
}

// End tells that the run is over. It is the last command of every run.
type End struct {
	Status  Status                 `json:"status"`
	Outputs map[string]value.Value `json:"outputs,omitempty"`
	Error   *Error                 `json:"error,omitempty"`
	// Limit tells that the run's own timeout or a cancel ended it (exit code 5).
	Limit bool `json:"limit,omitempty"`
	// Usage is what the run used, with the runs that it called; nil: nothing.
	Usage *Usage `json:"usage,omitempty"`
	// Loop is what the run of a loop leaves to the next one; nil: it is not the run of a loop.
	Loop *LoopLeft `json:"loop,omitempty"`
}

// LoopLeft is what the run of a loop leaves to the next one.
type LoopLeft struct {
	Next   LoopStart `json:"next"`              // how the next one begins, whenever it does
	GoesOn bool      `json:"goes_on,omitempty"` // it begins at once: this one ends because its journal is long
}

package ir

import "github.com/flowrun/flowrun/dsl/value"

// AgentType says how an agent is spoken to.
type AgentType string

// The agent types of this release.
const (
	AgentExec  AgentType = "exec"  // a program that speaks flowrun's JSON protocol, or plain text
	AgentShell AgentType = "shell" // a shell script; the request is in its environment and on its standard input
	AgentHTTP  AgentType = "http"  // the request is posted to a URL
	AgentMCP   AgentType = "mcp"   // a tool of a server of the Model Context Protocol
	AgentACP   AgentType = "acp"   // a program that speaks the Agent Client Protocol
	AgentA2A   AgentType = "a2a"   // a service that speaks the Agent2Agent protocol
	AgentNull  AgentType = "null"  // returns what it was given; no process
	AgentHuman AgentType = "human" // a person, who is asked by the inbox
	AgentChat  AgentType = "chat"  // a model behind the API of a provider
)

// AgentTypes lists all agent types.
var AgentTypes = []AgentType{AgentExec, AgentShell, AgentHTTP, AgentNull, AgentHuman, AgentChat, AgentMCP, AgentACP, AgentA2A}

// UnmarshalText refuses a type that is not in [AgentTypes].
func (a *AgentType) UnmarshalText(text []byte) error {
	return read(a, text, "the agent's type", AgentTypes)
}

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
	OutputFormat string           `json:"output_format,omitempty"` // "json" (default), "text" or OutputAssistant
	// NewSession and ResumeSession are what an agent of type exec gets behind its command to begin a session, and to continue one. In them
	// [SessionID] stands for the id. Without ResumeSession it has no sessions.
	NewSession    []string     `json:"new_session,omitempty"`
	KeepSession   bool         `json:"keep_session,omitempty"` // it continues also after a gate has refused the work
	ResumeSession []string     `json:"resume_session,omitempty"`
	URL           *Expr        `json:"url,omitempty"`         // http
	Method        string       `json:"method,omitempty"`      // http; "" means POST
	Headers       *Expr        `json:"headers,omitempty"`     // http: an object or map of texts
	Concurrency   *Expr        `json:"concurrency,omitempty"` // nil: no bound of its own
	Timeout       *Expr        `json:"timeout,omitempty"`
	Heartbeat     *Expr        `json:"heartbeat,omitempty"` // longest silence; nil: it may be silent
	Retry         *Retry       `json:"retry,omitempty"`
	Classify      []Classify   `json:"classify,omitempty"`
	Output        *value.Type  `json:"output,omitempty"`
	RateLimit     *RateLimit   `json:"rate_limit,omitempty"`
	Breaker       *Breaker     `json:"circuit_breaker,omitempty"`
	Quotas        []QuotaUse   `json:"quotas,omitempty"` // what each of its attempts takes
	Soul          *Expr        `json:"soul,omitempty"`   // stands before every task
	Capabilities  []string     `json:"capabilities,omitempty"`
	Memory        *AgentMemory `json:"memory,omitempty"` // nil: it has none
	Resources     *Resources   `json:"resources,omitempty"`
	Chat          *Chat        `json:"chat,omitempty"`    // of type chat
	Tool          *Tool        `json:"tool,omitempty"`    // mcp
	ACP           *ACP         `json:"acp,omitempty"`     // acp
	Servers       []ToolServer `json:"servers,omitempty"` // chat, acp
}

// OutputAssistant is the output_format of an agent that prints what command-line assistants print: JSON in which the answer is the text result.
const OutputAssistant = "assistant"

// SessionID stands for the id of a session in the arguments with which an agent begins or continues the session.
const SessionID = "{session}"

// Provider is whose API a chat agent speaks.
type Provider string

// The providers.
const (
	OpenAI    Provider = "openai" // and the many servers that speak its APIs
	Anthropic Provider = "anthropic"
	Gemini    Provider = "gemini"
)

// Providers lists all providers.
var Providers = []Provider{OpenAI, Anthropic, Gemini}

// UnmarshalText refuses a provider that is not in [Providers].
func (p *Provider) UnmarshalText(text []byte) error { return read(p, text, "provider", Providers) }

// ChatAPI is which API of the provider a chat agent speaks.
type ChatAPI string

// The APIs. The zero value is the only one of a provider, or chat completions.
const (
	APIChat      ChatAPI = "chat"      // chat completions
	APIResponses ChatAPI = "responses" // responses
)

// ChatAPIs lists all APIs that a provider lets one choose from.
var ChatAPIs = []ChatAPI{APIChat, APIResponses}

// UnmarshalText refuses an API that is not in [ChatAPIs].
func (c *ChatAPI) UnmarshalText(text []byte) error { return read(c, text, "api", ChatAPIs) }

// Chat is how a model is asked.
type Chat struct {
	Provider    Provider `json:"provider"`
	API         ChatAPI  `json:"api,omitempty"`
	Model       *Expr    `json:"model"`
	BaseURL     *Expr    `json:"base_url,omitempty"`    // nil: the provider's own
	Key         *Expr    `json:"key,omitempty"`         // nil: KeyEnv, or none
	KeyEnv      string   `json:"key_env,omitempty"`     // a variable of the process that carries the attempt out
	MaxTokens   *Expr    `json:"max_tokens,omitempty"`  // of one answer
	Temperature *Expr    `json:"temperature,omitempty"` // nil: the model's own
	Prices      *Prices  `json:"prices,omitempty"`      // nil: no cost is reported
	// MaxTurns bounds the answers of the model in one attempt, ContextTokens what is sent to it at once; nil: the default, and no bound.
	MaxTurns      *Expr `json:"max_turns,omitempty"`
	ContextTokens *Expr `json:"context_tokens,omitempty"`
}

// ToolServer is an MCP server whose tools an agent may use: a program, or a service at an address. flowrun speaks with it for the model of an
// agent of type chat; an agent of type acp speaks with it itself, and it has no Dir, PassEnv and Tools then.
type ToolServer struct {
	Name    string           `json:"name"`
	Command *Expr            `json:"command,omitempty"`
	Dir     *Expr            `json:"dir,omitempty"`
	Env     map[string]*Expr `json:"env,omitempty"`
	PassEnv []string         `json:"pass_env,omitzero"`
	URL     *Expr            `json:"url,omitempty"`
	Headers *Expr            `json:"headers,omitempty"`
	Tools   []Tool           `json:"tools,omitempty"` // that the model may use; it hears of no others
}

// Prices are in dollars for a million tokens.
type Prices struct {
	Input       *Expr `json:"input"`
	CachedInput *Expr `json:"cached_input,omitempty"` // nil: as Input
	Output      *Expr `json:"output"`
}

// Tool is a tool of an MCP server.
type Tool struct {
	Name string `json:"name"`
	// Pin is how the server must describe the tool: an object with the names of the protocol; nil: in any words.
	Pin value.Value `json:"pin,omitempty"`
}

// ACP is what an agent of type acp may do.
type ACP struct {
	Files       FileAccess   `json:"files,omitempty"`
	Permissions []Permission `json:"permissions,omitempty"` // the first that matches decides; none: no
}

// Permission answers a question of an agent of type acp whether it may use a tool.
type Permission struct {
	Kinds []string `json:"kinds,omitempty"` // of tools, as the protocol spells them; nil: all
	Paths []string `json:"paths,omitempty"` // patterns below the folder of the attempt that all files of the tool match; nil: any files, or none
	Allow bool     `json:"allow,omitempty"`
}

// FileAccess says which files flowrun reads and writes for an agent of type acp.
type FileAccess string

// The values of files. The zero value means FilesNone.
const (
	FilesNone  FileAccess = "none"
	FilesRead  FileAccess = "read"  // text files below the folder of the attempt
	FilesWrite FileAccess = "write" // also
)

// FileAccesses lists all values of files.
var FileAccesses = []FileAccess{FilesNone, FilesRead, FilesWrite}

// UnmarshalText refuses a value that is not in [FileAccesses].
func (f *FileAccess) UnmarshalText(text []byte) error { return read(f, text, "files", FileAccesses) }

// ToolKinds are the kinds of tools of the Agent Client Protocol, as it spells them.
var ToolKinds = []string{"read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"}

// Resources bound the processes of an agent. A nil field bounds nothing.
type Resources struct {
	CPUShares *Expr `json:"cpu_shares,omitempty"` // 1024 is what a program has by default
	Memory    *Expr `json:"memory,omitempty"`     // a text such as 64MiB
	Priority  *Expr `json:"priority,omitempty"`   // of attempts where the step has none, as Node.Priority
}

// Strategy says which member of a pool is given a task.
type Strategy string

// The strategies. The zero value means LeastBusy. Where members are equal, the next of them in the circle of the pool is chosen.
const (
	LeastBusy       Strategy = "least_busy"  // the one with the fewest live attempts in the run
	RoundRobin      Strategy = "round_robin" // the next in the circle
	FewestAbilities Strategy = "capability"  // the one with the fewest capabilities beyond those that are asked for
)

// Strategies lists all strategies.
var Strategies = []Strategy{LeastBusy, RoundRobin, FewestAbilities}

// UnmarshalText refuses a strategy that is not in [Strategies].
func (s *Strategy) UnmarshalText(text []byte) error { return read(s, text, "strategy", Strategies) }

// Pool is a declared set of agents that share tasks.
type Pool struct {
	Name     string   `json:"name"`
	Members  []string `json:"members"` // names of agents, in the order of the circle
	Strategy Strategy `json:"strategy,omitempty"`
}

// Retry says when a failed attempt is tried again. Attributes merge singly: step over agent over workflow over the
// built-in defaults that runner/policy holds.
type Retry struct {
	MaxAttempts *Expr  `json:"max_attempts,omitempty"` // counts the first; 1 by default
	BaseDelay   *Expr  `json:"base_delay,omitempty"`   // durations are strings such as "1m30s"
	MaxDelay    *Expr  `json:"max_delay,omitempty"`
	Multiplier  *Expr  `json:"multiplier,omitempty"`
	Jitter      Jitter `json:"jitter,omitempty"`
	When        *Expr  `json:"when,omitempty"` // a condition over error
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
	OnFail  OnFail   `json:"on_fail,omitempty"`
	// Review lets an agent judge. Findings is how the standard output of Run lists findings; "": its exit code judges. Scans are the
	// built-in scans of the texts of result.output. Block is the severity from which on one finding of these does not pass; "" means
	// [SeverityHigh].
	Review   *Review  `json:"review,omitempty"`
	Findings Findings `json:"findings,omitempty"`
	Scans    []Scan   `json:"scans,omitempty"`
	Block    Severity `json:"block,omitempty"`
	// Benchmark measures Run, and compares the figure with a baseline.
	Benchmark *Benchmark `json:"benchmark,omitempty"`
}

// Benchmark is a figure that must not grow.
type Benchmark struct {
	Samples       int     `json:"samples"`        // how often the program runs
	Metric        string  `json:"metric"`         // MetricTime, MetricMemory, or the name of a number that the program prints
	Baseline      string  `json:"baseline"`       // the name of the figure in the store
	MaxRegression float64 `json:"max_regression"` // how far above the baseline the figure may be, as a fraction of the baseline
}

// The figures that are measured from outside.
const (
	MetricTime   = "time"   // seconds
	MetricMemory = "memory" // bytes
)

// Review is a judgement by an agent or a member of a pool.
type Review struct {
	Assignee
	Task     *Expr `json:"task,omitempty"`     // a text; nil: a sentence that asks for scores and findings
	Criteria *Expr `json:"criteria,omitempty"` // a map from the name of a criterion to its lowest score; nil: none
}

// Attempts reports whether an attempt of its own judges.
func (g *Gate) Attempts() bool { return g.Run != nil || g.Review != nil }

package ir

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
	Agent string `json:"agent"`
	// If, where it is given, decides between Agent and Else when the step has its turn.
	If   *Expr  `json:"if,omitempty"`
	Else string `json:"else,omitempty"`
	Task *Expr  `json:"task,omitempty"`
	With *Expr  `json:"with,omitempty"`
}

// Wait is a durable pause; one of the two.
type Wait struct {
	Duration *Expr `json:"duration,omitempty"`
	At       *Expr `json:"at,omitempty"` // a moment in RFC 3339; one that has passed does not wait
}

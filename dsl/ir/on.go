package ir

import (
	"time"

	"github.com/flowrun/flowrun/dsl/value"
)

// On starts a workflow for each event of a name. Its expressions read var, local and event, the data of the event.
type On struct {
	Event    string      `json:"event"` // the name, or its beginning with .* behind it
	Workflow string      `json:"workflow"`
	When     *Expr       `json:"when,omitempty"`  // a condition; nil: true
	With     *Expr       `json:"with,omitempty"`  // an object of inputs; nil: none
	Data     *value.Type `json:"data,omitempty"`  // nil: any
	Hook     *Hook       `json:"hook,omitempty"`  // of a webhook's events alone
	Files    *Files      `json:"files,omitempty"` // of changes of files alone
}

// FileEvents is how the names of the events of changes of files begin.
const FileEvents = "file."

// Files says which files are watched.
type Files struct {
	Paths    []string      `json:"paths"`    // patterns; see package watch
	Debounce time.Duration `json:"debounce"` // how long a file stays as it is before its change is published
}

// DefaultFileDebounce is the Debounce where the program says nothing.
const DefaultFileDebounce = time.Second

// FileChanges are the words for what has become of a file.
var FileChanges = []string{"created", "changed", "removed"}

// FileData is the type of the data of changes of files.
func FileData() *value.Type {
	t := value.Object(map[string]value.Type{"path": value.StringType, "change": {Kind: value.StringT, Enum: FileChanges}, "size": value.IntType, "modified": value.StringType})
	return &t
}

// WebhookEvents is how the names of the events of webhooks begin. The rest of the name is that of the webhook.
const WebhookEvents = "webhook."

// Signature is how the deliveries of a webhook are signed: by an HMAC with SHA-256.
type Signature string

// The signatures.
const (
	// SignatureStandard is that of the Standard Webhooks specification 1.0.0: over the id, the time and the body.
	SignatureStandard Signature = "standard"
	// SignatureGitHub is that of GitHub: over the body.
	SignatureGitHub Signature = "github"
	// SignatureHMAC is over the body, or over the time, a dot and the body, in headers that the program names.
	SignatureHMAC Signature = "hmac"
)

// Signatures are the signatures, in the order of the documentation.
var Signatures = []Signature{SignatureStandard, SignatureGitHub, SignatureHMAC}

// SignatureAge is how far the time of a delivery may be from the time at which it comes.
const SignatureAge = 5 * time.Minute

// Hook says how the deliveries of a webhook are recognised.
type Hook struct {
	Secret    string    `json:"secret"` // the name of the sensitive variable with the key
	Signature Signature `json:"signature"`
	Header    string    `json:"header,omitempty"`    // of SignatureHMAC: the header with the signature
	Timestamp string    `json:"timestamp,omitempty"` // likewise: the header with the time of sending; "": none
	ID        string    `json:"id,omitempty"`        // likewise: the header with the id of the delivery; "": none
	Headers   []string  `json:"headers,omitempty"`   // the headers that the event has, in the order of their names
}

// WebhookData is the type of the data of a webhook's events, whose body is of a type; nil: any.
func WebhookData(body *value.Type) *value.Type {
	b := value.AnyType
	if body != nil {
		b = *body
	}
	t := value.Object(map[string]value.Type{"body": b, "headers": value.Map(value.StringType), "delivery": value.StringType})
	return &t
}

// EventPatterns are the names that match the name of an event: itself, and each beginning of it up to a dot, with .* behind it.
func EventPatterns(event string) []string {
	out := []string{event}
	for i := len(event) - 1; i > 0; i-- {
		if event[i] == '.' {
			out = append(out, event[:i]+".*")
		}
	}
	return out
}

// Subscription returns what the program does for events of a name, by the name as it is written and the workflow; nil if nothing.
func (p *Program) Subscription(event, workflow string) *On {
	for i := range p.Ons {
		if o := &p.Ons[i]; o.Event == event && o.Workflow == workflow {
			return o
		}
	}
	return nil
}

// Hook returns how deliveries to the webhook of an event are recognised; nil if the program has no such webhook.
func (p *Program) Hook(event string) *Hook {
	for i := range p.Ons {
		if o := &p.Ons[i]; o.Event == event && o.Hook != nil {
			return o.Hook
		}
	}
	return nil
}

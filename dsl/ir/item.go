package ir

import "github.com/flowrun/flowrun/dsl/value"

// SourceKind says how a source of a loop is asked.
type SourceKind string

// The kinds of sources.
const (
	SourceDispatch    SourceKind = "dispatch"    // work that was handed in: rows of the store
	SourceFile        SourceKind = "file"        // a list in a file
	SourceGitHub      SourceKind = "github"      // issues behind the API of GitHub
	SourceExec        SourceKind = "exec"        // a program that answers questions
	SourceHTTP        SourceKind = "http"        // a service that answers questions
	SourceImprovement SourceKind = "improvement" // workflows in turn, while there is nothing else to do
)

// SourceKinds lists all kinds of sources.
var SourceKinds = []SourceKind{SourceDispatch, SourceFile, SourceGitHub, SourceExec, SourceHTTP, SourceImprovement}

// UnmarshalText refuses a kind that is not in [SourceKinds].
func (k *SourceKind) UnmarshalText(text []byte) error {
	return read(k, text, "the kind of a source", SourceKinds)
}

// ItemType is the type of an item that a source has, as expressions read it.
var ItemType = value.Object(map[string]value.Type{
	"id": value.StringType, "source": value.StringType, "title": value.StringType, "body": value.StringType,
	"labels": value.List(value.StringType), "priority": value.NumberType, "needs": value.List(value.StringType),
	"capabilities": value.List(value.StringType), "assignee": value.StringType.OrNull(), "url": value.StringType.OrNull(),
	"created_at": value.StringType.OrNull(), "handoff": HandoffType.OrNull(), "data": value.AnyType,
})

// HandoffType is the type of the document of a hand-over, as expressions read it.
var HandoffType = value.Object(map[string]value.Type{
	"to": value.StringType, "ticket": value.StringType.OrNull(), "summary": value.StringType, "next": value.StringType,
	"files_changed": value.List(value.StringType), "decisions": value.List(value.StringType), "open_questions": value.List(value.StringType),
	"acceptance": value.List(value.StringType), "blockers": value.List(value.StringType), "artifacts": value.Map(value.StringType),
	"run": value.StringType, "node": value.StringType, "at": value.StringType,
})

// Handoff hands work over to another agent: it adds the document of the hand-over to the queue of dispatches. Lists without an
// expression are empty. The output is an object of id.
type Handoff struct {
	To            Expr     `json:"to"`
	Anyone        []string `json:"anyone,omitempty"`  // To is the name of a pool: the members, of which each may take the work
	Members       []string `json:"members,omitempty"` // the names that To can give; nil: any
	Summary       Expr     `json:"summary"`
	Next          Expr     `json:"next"`
	Ticket        *Expr    `json:"ticket,omitempty"`
	FilesChanged  *Expr    `json:"files_changed,omitempty"`
	Decisions     *Expr    `json:"decisions,omitempty"`
	OpenQuestions *Expr    `json:"open_questions,omitempty"`
	Acceptance    *Expr    `json:"acceptance,omitempty"`
	Blockers      *Expr    `json:"blockers,omitempty"`
	Artifacts     *Expr    `json:"artifacts,omitempty"`
	Priority      *Expr    `json:"priority,omitempty"` // nil: 0
	Notify        []string `json:"notify,omitempty"`   // channels that are told
}

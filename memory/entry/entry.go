// Package entry says what the memory holds: entries, and the records that add, supersede, forget and revert them. It knows
// no disk, no clock, no vectors, and nothing of workflows.
//
// Enter at [Entry] and [Record]; [State] is what a list of records amounts to. What always holds:
//
//   - A record is never changed. An entry is seen as its records, folded in order, say.
//   - Equal records in equal order give an equal state.
package entry

import (
	"strings"
	"time"
)

// Type is the kind of an entry.
type Type string

// Learnings are the first three; a pattern is what a group of them came to. The others are what working memory holds.
const (
	Success  Type = "success"
	Failure  Type = "failure"
	Insight  Type = "insight"
	Pattern  Type = "pattern"
	Note     Type = "note"
	Decision Type = "decision"
	Message  Type = "message"
	Summary  Type = "summary"
)

// Types are all of them.
var Types = []Type{Success, Failure, Insight, Pattern, Note, Decision, Message, Summary}

// Scope is who sees an entry: "" is everybody, "agent:NAME" one agent, "run:ID" one run, "group:NAME" whoever names the group.
type Scope string

// Shared is the scope that everybody sees.
const Shared Scope = ""

// OfAgent, OfRun and OfGroup make scopes.
func OfAgent(name string) Scope { return Scope("agent:" + name) }
func OfRun(id string) Scope     { return Scope("run:" + id) }
func OfGroup(name string) Scope { return Scope("group:" + name) }

// IsRun tells the scope of a run.
func (s Scope) IsRun() bool { return strings.HasPrefix(string(s), "run:") }

// Entry is one thing that is remembered. It has a Text, or a learning's Context, Observation and Lesson.
type Entry struct {
	ID    string `json:"id"`
	Scope Scope  `json:"scope,omitempty"`
	// Agent is whose experience it is; "" where nobody's.
	Agent       string `json:"agent,omitempty"`
	Type        Type   `json:"type,omitempty"`
	Text        string `json:"text,omitempty"`
	Context     string `json:"context,omitempty"`
	Observation string `json:"observation,omitempty"`
	Lesson      string `json:"lesson,omitempty"`
	// Auto marks a lesson that a template made, as nobody had worded one.
	Auto bool     `json:"auto,omitempty"`
	Tags []string `json:"tags,omitempty"` // lower case, sorted, each once
	// Importance lies in 0 to 1.
	Importance float64 `json:"importance,omitempty"`
	// Session groups entries that stand in the order of their records: a conversation, or a run.
	Session   string    `json:"session,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	// Working entries are the working memory of their session; a search does not find them before they are archived.
	Working bool   `json:"working,omitempty"`
	By      Source `json:"by,omitzero"`
	// Role says who said a message: user, assistant or tool. Calls are the ids of the tool calls that it makes, Answers is the
	// one whose result it is.
	Role    string   `json:"role,omitempty"`
	Calls   []string `json:"calls,omitempty"`
	Answers string   `json:"answers,omitempty"`
	// DerivedFrom are the ids that a pattern or a summary was made from.
	DerivedFrom []string `json:"derived_from,omitempty"`
	// Conflict marks a pattern whose sources contradict each other.
	Conflict bool `json:"conflict,omitempty"`
}

// Trust is how far what an author writes is believed. An untrusted entry stays in its run's scope until it is promoted.
type Trust string

// The zero value is Untrusted, spelled "".
const (
	Untrusted Trust = ""
	ByAgent   Trust = "agent"  // an agent that the file trusts
	ByRule    Trust = "rule"   // flowrun itself: what it ran and saw, or a rule in a file
	ByPerson  Trust = "person" // somebody at the command line
)

// Source says where an entry or a change comes from.
type Source struct {
	Run    string `json:"run,omitempty"`
	Step   string `json:"step,omitempty"`
	Source string `json:"source,omitempty"` // what it was taken from: "result", "import:FILE", "cli"
	Author string `json:"author,omitempty"` // "agent:NAME", "user:NAME", "flowrun"
	Trust  Trust  `json:"trust,omitempty"`
}

// Whole is the text that an entry is searched and embedded by: its Text, else "context. observation. lesson. tags".
func (e *Entry) Whole() string {
	parts := make([]string, 0, 5)
	for _, s := range []string{e.Text, e.Context, e.Observation, e.Lesson, strings.Join(e.Tags, " ")} {
		if s = strings.TrimSpace(s); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ". ")
}

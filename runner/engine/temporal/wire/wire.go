// Package wire has the payloads of the host on Temporal: what a workflow, an activity, a signal and a query are given and give back.
//
// A payload is bytes that begin with the version of its form, so that a worker of another release says what it does not know. JSON follows,
// compressed where that is worth it. What a machine reads is whole in it: commands and events are complete as JSON.
//
// The package is pure. Enter at [Encode] and [Decode].
package wire

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"

	stateless "github.com/klauspost/compress/flate"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal/inflate"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// Names of what the server knows.
const (
	Workflow = "flowrun.run.v1"
	Attempt  = "flowrun.attempt.v1" // activity, with [Task]; [Answer] answers
	Inbox    = "flowrun.inbox.v1"   // signal: a message for the run, as engine.PackExternal gives it
	Batches  = "flowrun.batches.v1"
	Memo     = "flowrun" // the entry of the memo that describes a run
)

// WatchQueue is the task queue of the attempts that watch sources, beside the queue of their runs: they take no slot of other attempts.
func WatchQueue(queue string) string { return queue + "/watch" }

// PlaceQueue is the task queue of the attempts that work in the worktrees of a workspace. place is the host and the store of the workspace.
func PlaceQueue(place string) string { return "at/" + place }

// Bounds of payloads, in bytes. The server refuses a payload of 2 MiB, and a workflow task of 4 MiB.
const (
	// MaxPayload bounds the start and the carried state of a run.
	MaxPayload = 1_900_000
	// MaxAnswer bounds the answer of an attempt. Up to a hundred answers of this size fit into the history of an execution.
	MaxAnswer = 400_000
	// MaxTask bounds what an attempt is given.
	MaxTask = 350_000
	// MaxDecision bounds what one decision gives to attempts and called runs. What is beyond it waits for the next decision.
	MaxDecision = 3_600_000
	// Beside is the size from which on a payload lies beside the server, where it can.
	Beside = 16 << 10
	// MaxLarge bounds a payload that does not lie on the server.
	MaxLarge = 64 << 20
	// MaxPage is about how many bytes of batches an answer to a query has.
	MaxPage = 1_000_000
	// maxDecoded bounds what a payload has once it is not compressed any more.
	maxDecoded = 256 << 20
)

// worthwhile is the size from which on a payload is compressed.
const worthwhile = 512

// The first bytes of a payload: the version, and whether flate compresses the rest.
const (
	plain  = "1j"
	packed = "1z"
)

// ErrVersion says that a payload is of a version that this release does not know.
var ErrVersion = errors.New("another release of flowrun made this payload: use the same release on all machines")

// Encode returns a value as a payload.
func Encode(v any) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	if text.Len() < worthwhile {
		return append([]byte(plain), text.Bytes()...), nil
	}
	return Compress([]byte(packed), text.Bytes())
}

// short is the size up to which a text is compressed without a state. A writer of the standard library takes 1.2 MB of memory and 0.5 ms, however short
// the text, where the stateless one takes 10 µs. It makes nothing of random base64, which the other one shortens by a quarter.
const short = 32 << 10

// Compress appends the compressed text to b.
func Compress(b, text []byte) ([]byte, error) {
	out := bytes.NewBuffer(b)
	if len(text) <= short {
		err := stateless.StatelessDeflate(out, text, true, nil)
		return out.Bytes(), err
	}
	w, err := flate.NewWriter(out, flate.BestSpeed)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}

// Expand returns what Compress compressed.
func Expand(b []byte) ([]byte, error) {
	return inflate.All(b, maxDecoded)
}

// Decode reads a payload.
func Decode(b []byte, v any) error {
	if len(b) < 2 || b[0] != plain[0] {
		return ErrVersion
	}
	text := b[2:]
	switch string(b[:2]) {
	case plain:
	case packed:
		var err error
		if text, err = Expand(text); err != nil {
			return fmt.Errorf("a damaged payload: %w", err)
		}
	default:
		return ErrVersion
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("a damaged payload: %w", err)
	}
	return nil
}

// Start is the argument of the workflow of a run.
type Start struct {
	Header     journal.Header   `json:"header"`
	Definition string           `json:"definition"`
	Source     []byte           `json:"source,omitempty"` // compressed
	First      event.RunStarted `json:"first"`
	Callers    []string         `json:"callers,omitempty"` // of a called run, the nearest first
	// Store is the name of what the run shares with others; "" in starts of a release that shared nothing.
	Store string `json:"store,omitempty"`
	// Tells says that the end of the run is told in any case, because a subscription may ask for it. Starts of older releases do not have it.
	Tells bool `json:"tells,omitempty"`
	// Memory says that the program uses the memory.
	Memory bool `json:"memory,omitempty"`
	// Place is where the worktree lies in which the run works; "": it works in the workspace of any worker.
	Place string `json:"place,omitempty"`
	// Rules are the rules of this host that the run follows; see [Rules]. 0 in starts of older releases.
	Rules int `json:"rules,omitempty"`
	// Carried is what the execution before leaves; nil: this is the first one.
	Carried *Carried `json:"carried,omitempty"`
}

// Rules are the rules of this host that a run of this release follows to its end, whatever release drives it. From 1 on, a run without a group begins
// before it takes its messages, and its inbox is that of the other hosts: a wake takes the place of an older one that waits, and so does an event
// once [engine.MaxInbox] messages wait. From 2 on, attempts are detached; see [Detached]. From 3 on, an execution does not
// end before the server has sent the cancels of called runs. A worker leaves a run whose rules it does not know to the others.
const Rules = 3

// Carried is what an execution leaves to the next one of the same run.
type Carried struct {
	State    []byte             `json:"state"`              // of the fold, compressed
	Number   int64              `json:"number"`             // of the next execution, from 2
	Messages int64              `json:"messages,omitempty"` // how many messages the run has taken
	Children map[string]*Called `json:"children,omitempty"` // those that run, by their ids
	Caller   string             `json:"caller,omitempty"`   // the run that has adopted this one
	// Refused are the keys of the attempts that were refused and may stand in a line, or that hold what they have, by ticket.
	Refused map[uint64]string `json:"refused,omitempty"`
	Errands int64             `json:"errands,omitempty"` // how many requests the run has made
	// Shares says that the run has asked for what runs share.
	Shares bool `json:"shares,omitempty"`
	// From and Heard are the sender and the number of the last message in a parcel.
	From  string `json:"from,omitempty"`
	Heard int64  `json:"heard,omitempty"`
	// Remembers says that an attempt of the run has had to do with the memory.
	Remembers bool `json:"remembers,omitempty"`
	// Places are where worktrees lie, by the runs of items.
	Places map[string]string `json:"places,omitempty"`
	// Detached are the attempts that outlive their executions, by ticket.
	Detached map[uint64]*Away `json:"detached,omitempty"`
}

// Called is a called run that has started and not ended.
type Called struct {
	Cancels int `json:"cancels,omitempty"` // how often it was cancelled
}

// NewStart returns the argument for the start of a run.
func NewStart(s engine.Start) (*Start, error) {
	source, err := Compress(nil, s.Source)
	return &Start{Header: s.Header, Definition: string(s.Definition), Source: source, First: s.First, Rules: Rules}, err
}

// Engine returns the start of the run in the engine's form.
func (s *Start) Engine() (engine.Start, error) {
	source, err := Expand(s.Source)
	return engine.Start{Header: s.Header, Definition: []byte(s.Definition), Source: source, First: s.First}, err
}

// Answer is what an activity gives back. Finished is nil if the worker has given the attempt back, or if the attempt is queued.
type Answer struct {
	Finished *event.AttemptFinished `json:"finished,omitempty"`
	// Queued says that the attempt waits for its admission, and may be granted soon. No worker has it.
	Queued bool `json:"queued,omitempty"`
	// Place is where the worktree lies that the attempt has made, or, without Finished, that it is to remove: the worker there has it.
	Place string `json:"place,omitempty"`
	// Detached, without Finished, says that the worker goes on with the attempt, and where.
	Detached *Claim `json:"detached,omitempty"`
}

// Page answers a query for batches.
type Page struct {
	// Begins is the number of the first event of the execution that answers: the history of an earlier one has the events before it.
	Begins  uint64  `json:"begins"`
	Batches []Batch `json:"batches,omitempty"`
	More    bool    `json:"more,omitempty"` // there are more batches
}

// Batch is a batch of the journal.
type Batch struct {
	First  uint64 `json:"first"`
	Count  int    `json:"count"`
	Digest uint64 `json:"digest"`
	Link   []byte `json:"link"`
	Body   string `json:"body"`
}

// NewBatch returns a batch for a page.
func NewBatch(b journal.Batch) Batch {
	return Batch{First: b.First, Count: b.Count, Digest: b.Digest, Link: b.Link[:], Body: string(b.Body)}
}

// Journal returns the batch in the journal's form.
func (b Batch) Journal() journal.Batch {
	j := journal.Batch{First: b.First, Count: b.Count, Digest: b.Digest, Body: []byte(b.Body)}
	copy(j.Link[:], b.Link)
	return j
}

// Summary describes a run in its memo.
type Summary struct {
	Workflow   string       `json:"workflow"`
	Definition string       `json:"definition"`
	Created    event.Time   `json:"created"`
	Parent     string       `json:"parent,omitempty"`
	ParentNode string       `json:"parent_node,omitempty"`
	Status     event.Status `json:"status,omitempty"` // of a run that has ended
	Ended      event.Time   `json:"ended,omitempty"`
	Events     uint64       `json:"events,omitempty"`
	RetryOf    string       `json:"retry_of,omitempty"`
	Memory     bool         `json:"memory,omitempty"` // its program uses the memory
	Place      string       `json:"place,omitempty"`  // where its worktree lies
	// End is how the run ended, as engine.EncodeSummary gives it.
	End json.RawMessage `json:"end,omitempty"`
}

// Summary describes the run.
func (s *Start) Summary(first *event.RunStarted) Summary {
	h := s.Header
	return Summary{Memory: s.Memory, Place: s.Place, Workflow: h.Workflow, Definition: h.Definition, Created: h.Created, Parent: first.Parent, ParentNode: first.ParentNode, RetryOf: first.RetryOf}
}

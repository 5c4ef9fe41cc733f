// Package trace folds the journal of a run into spans, in the form in which OpenTelemetry knows them: one span for the run, one for
// each node that began, and one for each attempt.
//
// A span is computed from events and what they caused, so the spans of a run are equal on each host and after a resume. Ids are
// hashes: of the run at the root of a tree, of a run, of a node's path, of an attempt's ticket. A process that carries out an attempt
// knows the id of its span without having read the journal ([Attempt]).
//
// Texts come from the journal, in which secrets are masked. Tasks, inputs, outputs and what attempts write are left out. Names of
// attributes are those of OpenTelemetry's semantic conventions for generative AI (operations invoke_workflow and invoke_agent), for
// processes and for HTTP, where these have one; the others begin with "flowrun.".
//
// The package is pure: it knows no store, no clock and no network. Enter at [NewRun]; [AppendProto] and [JSON] encode spans.
package trace

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/flowrun/flowrun/runner/event"
)

// TraceID is the id of a trace: of a tree of runs. SpanID is the id of a span in it.
type (
	TraceID [16]byte
	SpanID  [8]byte
)

// Span is one span. Client tells that it is a request to another service.
type Span struct {
	Trace      TraceID
	ID, Parent SpanID // a Parent of zeros: none
	Name       string
	Client     bool
	Start, End event.Time
	Attributes []Attribute
	Events     []Event
	Dropped    int // events beyond MaxEvents
	Links      []Link
	Failed     bool
	Message    string // why it failed
}

// Attribute is a named value: a string, a bool, an int64 or a float64.
type Attribute struct {
	Key   string
	Value any
}

// Event is something that happened during a span.
type Event struct {
	At         event.Time
	Name       string
	Attributes []Attribute
}

// Link points to a span of another trace.
type Link struct {
	Trace TraceID
	Span  SpanID
	Why   string
}

const (
	// MaxEvents bounds the events of a span.
	MaxEvents = 64
	// MaxText bounds a text in a span, in bytes.
	MaxText = 2048
)

// OfTree returns the id of the trace of a tree of runs: of root, and of the runs that it calls.
func OfTree(root string) (id TraceID) {
	copy(id[:], hash("trace", root))
	return id
}

// OfRun returns the id of the span of a run.
func OfRun(run string) SpanID { return spanID("run", run) }

// OfNode returns the id of the span of a node, which is one however often the node begins again.
func OfNode(run, path string) SpanID { return spanID("node", run, path) }

// Attempt returns the id of the span of an attempt. Tickets count the attempts of a run.
func Attempt(run string, ticket uint64) SpanID {
	return spanID("attempt", run, string(binary.BigEndian.AppendUint64(nil, ticket)))
}

// Parent returns the text that tells a program of its parent, as W3C's "Trace Context" has it.
func Parent(t TraceID, s SpanID) string {
	return "00-" + hex.EncodeToString(t[:]) + "-" + hex.EncodeToString(s[:]) + "-01"
}

// Caller returns the text of Parent that an environment has in TRACEPARENT, in the form of os.Environ; "" if it has none that is valid.
func Caller(environ []string) string {
	for _, pair := range environ {
		text, is := strings.CutPrefix(pair, "TRACEPARENT=")
		if _, _, valid := ReadParent(text); is && valid {
			return text
		}
	}
	return ""
}

// ReadParent reads the text of a parent. Of a version that is not known it reads what version 00 has, as the standard wants it.
func ReadParent(text string) (t TraceID, s SpanID, ok bool) {
	parts := strings.SplitN(text, "-", 5)
	if len(parts) < 4 || len(parts[0]) != 2 || len(parts[1]) != 2*len(t) || len(parts[2]) != 2*len(s) || len(parts[3]) != 2 ||
		parts[0] == "ff" || parts[0] == "00" && len(parts) > 4 || text != strings.ToLower(text) {
		return t, s, false
	}
	for _, p := range parts[:4] {
		if _, err := hex.DecodeString(p); err != nil {
			return t, s, false
		}
	}
	_, _ = hex.Decode(t[:], []byte(parts[1])) // checked above
	_, _ = hex.Decode(s[:], []byte(parts[2]))
	return t, s, t != TraceID{} && s != SpanID{}
}

func spanID(words ...string) (id SpanID) {
	copy(id[:], hash(words...))
	return id
}

func hash(words ...string) []byte {
	h := sha256.New()
	for _, w := range words {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(w))))
		h.Write([]byte(w))
	}
	return h.Sum(nil)
}

// clip bounds a text.
func clip(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), MaxText)], "")
}

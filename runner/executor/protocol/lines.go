package protocol

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// MaxLine is how long a line of an agent may be, newline not counted; a result is one line.
const MaxLine = limits.MaxOutput

// Lines hears what an agent says on standard output, and understands
//
//	{"type":"progress","percent":40,"message":"…"}   {"type":"heartbeat"}   {"type":"log","message":"…"}
//	{"type":"partial","output":…}                    {"type":"session","id":"…"}
//	{"type":"remember","kind":"decision","text":"…"}
//	{"type":"result","output":…}                     {"type":"error","kind":"transient","message":"…","retry_after":30}
//	                                                 or, with the moment, "retry_at":"2026-01-31T08:00:00Z"
//	{"status":"completed","result":…}                {"status":"failed","error":…}
//	{"type":"result","result":"…","is_error":false,…}
//
// and the events of codex (codex.go), and the object of Gemini (gemini.go).
// All but the first six are final; a result or an error can have learnings beside it (learned.go). What is not such a line is put aside: if there is no final line at all, it must be one JSON
// object without a type, over as many lines as it likes, or text with one fenced block that holds such an object, and that is the output. The last word of a manager's worker counts over several
// lines too, and on standard error (manager.go). Memory: MaxLine for the line at hand,
// limits.MaxOutput for what is put aside, and the result.
type Lines struct {
	// Live hears what is said on the way: kind is progress, heartbeat or log.
	Live func(kind, text string)
	// Note, if set, hears what the agent wants to be remembered while it works, [limits.MaxNotes] times at most.
	Note func(event.Learned)
	// Session, if set, hears the id of the session in which the agent works, if the agent says it: the first maxSessions times.
	Session func(id string)
	// Worked, if set, hears the id of the session that an assistant prints beside its last word: it may have gone on in another one than it was told to.
	Worked func(id string)
	// Now is the clock by which the moments of errors are read. Nil: an error that says a moment says none.
	Now func() time.Time
	// Zone finds a zone by name, for moments that name one. Nil: they say none.
	Zone func(name string) (*time.Location, error)
	// Judge says that the agent judges for a gate: its answer must be an object of scores and findings.
	Judge bool

	line []byte // what has come of the line at hand
	long bool   // it went beyond MaxLine; the rest of it is dropped
	rest []byte // put aside

	sessions int // that were said

	spoke   bool  // a line of the protocol came
	over    int64 // bytes that did not fit into rest, or into a line
	finals  int
	notes   int // that were said, and learnings in the last word: more than are kept, maybe
	offered int
	learned []event.Learned
	result  value.Value
	failure *event.Error
	usage   *event.Usage
	partial value.Value

	thread, said string // of codex: its session, and its last words so far
	did          bool   // codex: it said or did something
}

// Partial is what the agent has given, where the attempt fails: its result, or else its last partial output; nil if there is
// neither. It is asked after End.
func (l *Lines) Partial() value.Value {
	if l.finals == 1 && l.failure == nil {
		return l.result
	}
	return l.partial
}

// Usage is what the agent said, beside its last word, that the attempt used; nil if it said nothing. It is asked after End.
func (l *Lines) Usage() *event.Usage { return l.usage }

// used reads the usage beside a last word. Command-line assistants print total_cost_usd outside of it.
func used(m map[string]any) *event.Usage {
	reported := map[string]any{"cost_usd": m["total_cost_usd"]}
	if u, ok := m["usage"].(map[string]any); ok {
		maps.Copy(reported, u)
	}
	return event.ReadUsage(reported)
}

// Write takes a piece of the stream.
func (l *Lines) Write(p []byte) {
	for len(p) > 0 {
		nl := bytes.IndexByte(p, '\n')
		part := p
		if nl >= 0 {
			part = p[:nl]
		}
		if l.long || len(l.line)+len(part) > MaxLine {
			l.over += int64(len(part) + len(l.line))
			l.long, l.line = true, l.line[:0]
		} else {
			l.line = append(l.line, part...)
		}
		if nl < 0 {
			return
		}
		l.endLine()
		p = p[nl+1:]
	}
}

// End tells that nothing more comes (the last line needs no newline), and gives the error that the agent reported: its
// own, or that it had more than one last word. nil if there is none.
func (l *Lines) End() *event.Error {
	if len(l.line) > 0 || l.long {
		l.endLine()
	}
	if l.finals == 0 {
		l.scan(l.rest)
	}
	if l.finals == 0 {
		l.gemini()
	}
	if l.finals > 1 {
		return &event.Error{Kind: event.Recoverable, Reason: event.ReasonAgent, ExitCode: -1,
			Message: fmt.Sprintf("the agent gave %d results or errors; exactly one is allowed", l.finals)}
	}
	return l.failure
}

func (l *Lines) endLine() {
	line := l.line
	l.line = l.line[:0]
	switch {
	case l.long:
		l.long = false
	case l.message(line):
		l.spoke = true
	case len(l.rest)+len(line)+1 > limits.MaxOutput+1:
		l.over += int64(len(line) + 1)
	default:
		l.rest = append(append(l.rest, line...), '\n')
	}
}

// message handles a line of the protocol. It reports false for any other. An indented line is never one: it belongs to
// an object that was printed over several.
func (l *Lines) message(line []byte) bool {
	if len(line) == 0 || line[0] != '{' {
		return false
	}
	v, err := value.Decode(line)
	if err != nil {
		return false
	}
	m := v.(map[string]any)
	if _, typed := m["type"]; !typed {
		return l.manager(m)
	}
	if l.codex(m) {
		return true
	}
	switch m["type"] {
	case "progress", "heartbeat", "log":
		kind, _ := m["type"].(string)
		l.Live(kind, told(m))
	case "partial":
		l.partial = m["output"]
		l.Live("progress", told(m))
	case "remember":
		l.note(m)
	case "session":
		id, _ := m["id"].(string)
		l.enter(id)
	case "result":
		l.finals++
		l.usage = used(m)
		l.learn(m)
		if _, ours := m["output"]; ours {
			l.result = m["output"]
		} else {
			l.result, l.failure = l.assistant(m)
		}
	case "error":
		l.finals, l.failure = l.finals+1, readFailure(l.Now, m)
		l.usage = used(m)
		l.learn(m)
	default:
		return false
	}
	return true
}

// assistant understands the last word of command-line assistants: {"type":"result","result":"…","is_error":false,…}. All of
// it is the output, so that step.x.output.result is the text, and session_id, total_cost_usd and the like stand beside it. An error may have
// the status that the provider answered with.
func (l *Lines) assistant(m map[string]any) (value.Value, *event.Error) {
	text, there := m["result"]
	l.worked(m)
	switch {
	case m["is_error"] == true:
		status, _ := m["api_error_status"].(float64)
		e := l.reported(text, status)
		if m["stop_reason"] == "refusal" {
			e.Kind, e.Reason = event.Blocking, event.ReasonRefusal
		}
		return nil, e
	case !there:
		return nil, nil
	}
	delete(m, "type")
	return m, nil
}

// maxSessions bounds how often an attempt says its session, each of which is written durably.
const maxSessions = 8

func (l *Lines) enter(id string) {
	if l.sessions++; l.sessions <= maxSessions && l.Session != nil {
		l.Session(id)
	}
}

func (l *Lines) worked(m map[string]any) {
	if id, ok := m["session_id"].(string); ok && l.Worked != nil {
		l.Worked(id)
	}
}

// Answer is the answer in the output of a command-line assistant, which is the text under result: that text where a text is wanted, and else the
// JSON that it holds. Without a type that is wanted, the output stays as it is.
func Answer(output value.Value, wanted string) (value.Value, *event.Error) {
	m, _ := output.(map[string]any)
	text, is := m["result"].(string)
	if wanted == "" || !is {
		return output, nil
	}
	if wanted == value.StringType.String() {
		return text, nil
	}
	v, err := value.Decode([]byte(executor.Unfenced(text)))
	if err != nil {
		return nil, &event.Error{Kind: event.Recoverable, Reason: event.ReasonBadJSON, ExitCode: -1,
			Message: fmt.Sprintf("the answer of the assistant is not JSON, which the type of the output needs: %v", err)}
	}
	return v, nil
}

// told is the text of a message that reports on the way.
func told(m map[string]any) string {
	text, _ := m["message"].(string)
	if p, ok := m["percent"].(float64); ok {
		if text != "" {
			text = " " + text
		}
		return string(value.AppendNumber(nil, p)) + "%" + text
	}
	return text
}

// readFailure reads an error that an agent reports. A kind that there is not is recoverable.
func readFailure(now func() time.Time, m map[string]any) *event.Error {
	e := &event.Error{Kind: event.Recoverable, Reason: event.ReasonAgent, Message: "the agent failed without a message"}
	if kind, _ := m["kind"].(string); slices.Contains(event.ErrorKinds, event.ErrorKind(kind)) {
		e.Kind = event.ErrorKind(kind)
	}
	switch text := m["message"].(type) {
	case nil:
	case string:
		if text != "" {
			e.Message = text
		}
	default:
		e.Message = string(value.Append(nil, text))
	}
	if s, ok := m["retry_after"].(float64); ok && s > 0 {
		e.RetryAfter = s
	} else if at, ok := moment(m["retry_at"]); ok && now != nil {
		e.RetryAfter = max(0, at.Sub(now()).Seconds())
	}
	return e
}

// moment reads a point in time: RFC 3339, or a number of seconds since 1970.
func moment(v value.Value) (time.Time, bool) {
	switch v := v.(type) {
	case string:
		at, err := time.Parse(time.RFC3339, v)
		return at, err == nil
	case float64:
		return time.UnixMilli(int64(v * 1000)), v > 0 && v < 1e11
	}
	return time.Time{}, false
}

// Output is what the agent gave. It is asked after End, where that gave no error.
func (l *Lines) Output() (value.Value, *event.Error) {
	if l.finals == 1 {
		return l.result, nil
	}
	bad := func(text string, args ...any) (value.Value, *event.Error) {
		return nil, &event.Error{Kind: event.Blocking, Reason: event.ReasonBadJSON, Message: fmt.Sprintf(text, args...)}
	}
	if l.over > 0 {
		return nil, executor.TooLarge("the agent's answer, or a line of it,", l.over+int64(len(l.rest)))
	}
	if len(bytes.TrimSpace(l.rest)) == 0 {
		if l.spoke {
			return bad("the agent ended without a result")
		}
		return bad("the agent printed nothing")
	}
	v, err := value.Decode(l.rest)
	if err != nil { // a model often puts its JSON into a fenced block, among sentences
		if inside, wrong := value.Decode([]byte(executor.Unfenced(string(l.rest)))); wrong == nil {
			v, err = inside, nil
		}
	}
	where := ""
	if l.spoke {
		where = "beside the protocol's lines, "
	}
	if err != nil {
		if start := bytes.TrimSpace(l.rest)[0]; !l.spoke && start != '{' && start != '[' {
			if l.Judge {
				return bad("its answer is not JSON, but text: a judge answers with an object of scores and findings, such as {\"scores\":{\"clarity\":0.8},\"findings\":[]}")
			}
			return bad("the agent's output is not JSON, but text: where text is wanted, write output_format = \"text\" in the agent")
		}
		return bad("the agent's output is not JSON: %s%v", where, err)
	}
	m, ok := v.(map[string]any)
	if !ok {
		return bad("the agent's output is JSON, but not an object; print {\"type\":\"result\",\"output\":…} for other values")
	}
	if t, typed := m["type"]; typed {
		return bad("the agent's message has the type %.60s, which is not one of progress, heartbeat, log, partial, session, remember, result, error", value.Append(nil, t))
	}
	return m, nil
}

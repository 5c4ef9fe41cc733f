package protocol

import (
	"regexp"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// codex understands a line of the events that "codex exec --json" prints, from the first one on:
//
//	{"type":"thread.started","thread_id":"…"}
//	{"type":"item.completed","item":{"type":"agent_message","text":"…"}}
//	{"type":"error","message":"Reconnecting... 1/5 (…)"}
//	{"type":"turn.completed","usage":{"input_tokens":11,…}}   {"type":"turn.failed","error":{"message":"…"}}
//
// The last two are final. The output is that of other command-line assistants: result, session_id and usage. An error among these
// events is a log line: the agent may try again, and turn.failed follows if it gives up. It reports false for any other line.
func (l *Lines) codex(m map[string]any) bool {
	kind, _ := m["type"].(string)
	if id, ok := m["thread_id"].(string); ok && kind == "thread.started" {
		l.thread = id
		return true
	}
	if l.thread == "" {
		return false
	}
	switch kind {
	case "turn.started", "item.started", "item.updated":
	case "item.completed":
		item, _ := m["item"].(map[string]any)
		if text, ok := item["text"].(string); ok && item["type"] == "agent_message" {
			l.said = text
			l.Live("log", text)
		}
	case "error":
		l.Live("log", told(m))
	case "turn.completed":
		l.finals++
		l.usage = used(m)
		l.result = map[string]value.Value{"result": l.said, "session_id": l.thread, "usage": m["usage"]}
	case "turn.failed":
		l.finals++
		reported, _ := m["error"].(map[string]any)
		l.failure = readFailure(l.Now, map[string]any{"message": reported["message"]})
		l.failure.Kind = KindOf(l.failure.Message)
	default:
		return false
	}
	return true
}

// status is how a message names the status of an HTTP answer: "unexpected status 401 Unauthorized", "last status: 429 Too Many Requests".
var status = regexp.MustCompile(`\bstatus:? ([45])(\d\d)\b`)

// KindOf is the kind of an error whose message may name the status of an HTTP answer.
func KindOf(message string) event.ErrorKind {
	m := status.FindStringSubmatch(message)
	switch {
	case m != nil && m[1]+m[2] == "429" || strings.Contains(strings.ToLower(message), "rate limit"):
		return event.RateLimited
	case m == nil:
		return event.Recoverable
	case m[1] == "5" || m[2] == "08":
		return event.Transient
	}
	return event.Blocking
}

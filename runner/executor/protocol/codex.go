package protocol

import "github.com/flowrun/flowrun/dsl/value"

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
		l.enter(id)
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
		l.did = l.did || item["type"] != "error" && item["type"] != "reasoning"
	case "error":
		l.Live("log", told(m))
	case "turn.completed":
		l.finals++
		l.usage = used(m)
		if !l.did { // what a model says as a refusal is not among the events
			l.failure = readFailure(nil, map[string]any{"message": "the model returned no text and no action; it may have refused the task"})
		}
		l.result = map[string]value.Value{"result": l.said, "session_id": l.thread, "usage": m["usage"]}
	case "turn.failed":
		l.finals++
		reported, _ := m["error"].(map[string]any)
		l.failure = l.reported(reported["message"], 0)
	default:
		return false
	}
	return true
}

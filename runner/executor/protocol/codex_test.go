package protocol

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// The lines are what codex-cli 0.169 printed.
func TestCodex(t *testing.T) {
	const begin = `{"type":"thread.started","thread_id":"t1"}
{"type":"item.completed","item":{"id":"item_0","type":"error","message":"Model metadata not found."}}
{"type":"turn.started"}
`
	failed := func(message string) string {
		return begin + `{"type":"error","message":"Reconnecting... 1/1 (` + message + `)"}
{"type":"error","message":"` + message + `"}
{"type":"turn.failed","error":{"message":"` + message + `"}}
`
	}
	for _, c := range []struct {
		name, text, result string
		kind               event.ErrorKind
	}{
		{"done", begin + `{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"first"}}
{"type":"error","message":"Reconnecting... 1/5"}
{"type":"item.completed","item":{"id":"item_2","type":"agent_message","text":"pong"}}
{"type":"turn.completed","usage":{"input_tokens":11,"cached_input_tokens":0,"output_tokens":5}}
`, "pong", ""},
		{"limit", failed("exceeded retry limit, last status: 429 Too Many Requests"), "", event.RateLimited},
		{"key", failed("unexpected status 401 Unauthorized: bad key, url: http://127.0.0.1:1/v1/responses"), "", event.Blocking},
		{"server", failed("unexpected status 503 Service Unavailable"), "", event.Transient},
		{"other", failed("stream disconnected before completion"), "", event.Recoverable},
	} {
		l := &Lines{Live: func(string, string) {}}
		for _, piece := range strings.SplitAfter(c.text, "e") {
			l.Write([]byte(piece))
		}
		failure := l.End()
		if c.kind != "" {
			if failure == nil || failure.Kind != c.kind {
				t.Errorf("%s: %+v", c.name, failure)
			}
			continue
		}
		out, err := l.Output()
		m, _ := out.(map[string]value.Value)
		if failure != nil || err != nil || m["result"] != c.result || m["session_id"] != "t1" {
			t.Errorf("%s: %v %v %v", c.name, out, failure, err)
		}
		if u := l.Usage(); u == nil || u.InputTokens != 11 || u.OutputTokens != 5 {
			t.Errorf("%s: usage %+v", c.name, u)
		}
	}
	// Without the first event, error is the agent's last word, as ever.
	l := &Lines{Live: func(string, string) {}}
	l.Write([]byte(`{"type":"error","message":"no"}` + "\n"))
	if l.End() == nil {
		t.Error("an error of another agent is lost")
	}
}

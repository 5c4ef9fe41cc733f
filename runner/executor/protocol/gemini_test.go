package protocol

import (
	"testing"

	"github.com/flowrun/flowrun/dsl/value"
)

// The object is what gemini-cli 0.61 printed, without the figures that nobody reads.
func TestGemini(t *testing.T) {
	const said = `{
  "session_id": "s1",
  "response": "pong",
  "stats": {"models": {
    "a": {"tokens": {"input": 11, "prompt": 11, "candidates": 5, "total": 19, "cached": 0, "thoughts": 3, "tool": 0}},
    "b": {"tokens": {"prompt": 100, "candidates": 20}}
  }}
}
`
	l := &Lines{}
	l.Write([]byte(said))
	failure := l.End()
	out, err := l.Output()
	m, _ := out.(map[string]value.Value)
	if failure != nil || err != nil || m["result"] != "pong" || m["response"] != "pong" || m["session_id"] != "s1" {
		t.Errorf("%v %v %v", out, failure, err)
	}
	if u := l.Usage(); u == nil || u.InputTokens != 111 || u.OutputTokens != 28 {
		t.Errorf("usage %+v", u)
	}
	for _, other := range []string{`{"response":"x"}`, `{"session_id":"s","response":"x","stats":{}}`, `{"session_id":"s","response":"x","stats":{"models":{}},"result":1}`} {
		l := &Lines{}
		l.Write([]byte(other))
		if l.End() != nil || l.Usage() != nil {
			t.Errorf("%s: read as Gemini's", other)
		}
		if out, err := l.Output(); err != nil || out.(map[string]value.Value)["result"] == "x" {
			t.Errorf("%s: %v %v", other, out, err)
		}
	}
}

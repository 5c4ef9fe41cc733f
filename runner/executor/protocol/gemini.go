package protocol

import (
	"bytes"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// gemini understands the one object that "gemini --output-format json" prints:
//
//	{"session_id":"…","response":"…","stats":{"models":{"NAME":{"tokens":{"prompt":11,"candidates":5,"thoughts":0}}}}}
//
// All of it is the output, and result is the answer once more, so that the output is read as that of other command-line assistants. An object
// with an error beside an empty response is a failure: the answer was blocked, or broke off.
func (l *Lines) gemini() {
	if l.spoke || l.over > 0 || !bytes.Contains(l.rest, []byte(`"session_id"`)) || !bytes.Contains(l.rest, []byte(`"stats"`)) {
		return
	}
	v, err := value.Decode(l.rest)
	m, _ := v.(map[string]any)
	response, answered := m["response"].(string)
	stats, _ := m["stats"].(map[string]any)
	models, counted := stats["models"].(map[string]any)
	_, typed := m["type"]
	problem, failed := m["error"].(map[string]any)
	_, named := m["result"]
	if err != nil || !answered || !counted || typed || named || m["error"] != nil && !failed {
		return
	}
	var in, out float64
	for _, model := range models { // any order: sums
		model, _ := model.(map[string]any)
		tokens, _ := model["tokens"].(map[string]any)
		number := func(name string) float64 { f, _ := tokens[name].(float64); return f }
		in, out = in+number("prompt"), out+number("candidates")+number("thoughts")
	}
	if failed {
		l.failure = l.geminiFailure(problem)
	}
	l.worked(m)
	m["result"] = response
	l.finals, l.result = 1, m
	l.usage = event.ReadUsage(map[string]any{"input_tokens": in, "output_tokens": out})
}

// geminiFailure is the error in the object: {"type":"…","message":"…","code":429}.
func (l *Lines) geminiFailure(problem map[string]any) *event.Error {
	code, _ := problem["code"].(float64)
	e := l.reported(problem["message"], code)
	if strings.Contains(e.Message, "blocked due to") {
		e.Kind, e.Reason = event.Blocking, event.ReasonContentFilter
	}
	return e
}

// Complaint looks for the object with which Gemini says on standard error that it failed, where its exit code says no more: the last one that
// begins a line. It is nil if there is none.
func (l *Lines) Complaint(text string) *event.Error {
	i := strings.LastIndex("\n"+text, "\n{\n  \"session_id\"")
	if i < 0 {
		return nil
	}
	v, err := value.Decode([]byte(text[i:]))
	m, _ := v.(map[string]any)
	problem, failed := m["error"].(map[string]any)
	if err != nil || !failed {
		return nil
	}
	return l.geminiFailure(problem)
}

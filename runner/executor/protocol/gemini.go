package protocol

import (
	"bytes"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// gemini understands the one object that "gemini --output-format json" prints:
//
//	{"session_id":"…","response":"…","stats":{"models":{"NAME":{"tokens":{"prompt":11,"candidates":5,"thoughts":0}}}}}
//
// All of it is the output, and result is the answer once more, so that the output is read as that of other command-line assistants.
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
	_, failed := m["error"]
	_, named := m["result"]
	if err != nil || !answered || !counted || typed || failed || named {
		return
	}
	var in, out float64
	for _, model := range models { // any order: sums
		model, _ := model.(map[string]any)
		tokens, _ := model["tokens"].(map[string]any)
		number := func(name string) float64 { f, _ := tokens[name].(float64); return f }
		in, out = in+number("prompt"), out+number("candidates")+number("thoughts")
	}
	m["result"] = response
	l.finals, l.result = 1, m
	l.usage = event.ReadUsage(map[string]any{"input_tokens": in, "output_tokens": out})
}

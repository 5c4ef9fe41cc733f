package protocol

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// scanMax is how many bytes scan reads again at most, behind lines that only look like the beginning of an object.
const scanMax = 4 << 20

// manager understands the last word of a manager's worker, {"status": …}.
func (l *Lines) manager(m map[string]any) bool {
	result, hasResult := m["result"]
	problem, hasError := m["error"]
	switch {
	case m["status"] == "completed" && hasResult:
		l.finals, l.result = l.finals+1, result
	case m["status"] == "failed" && hasError:
		f, ok := problem.(map[string]any)
		if !ok {
			f = map[string]any{"message": problem}
		}
		l.finals, l.failure = l.finals+1, readFailure(l.Now, f)
	default:
		return false
	}
	return true
}

// scan looks in a text for the last words of a manager's worker: JSON objects that begin a line and take as many as they like,
// among lines of any other kind.
func (l *Lines) scan(text []byte) {
	text = text[:bytes.LastIndexByte(text, '}')+1]
	if !bytes.Contains(text, []byte(`"status"`)) {
		return
	}
	for spent := int64(0); len(text) > 0 && spent < scanMax; {
		if text[0] == '{' {
			var object json.RawMessage
			d := json.NewDecoder(bytes.NewReader(text))
			err := d.Decode(&object)
			if err == nil {
				if v, err := value.Decode(object); err == nil {
					l.manager(v.(map[string]any))
				}
				text = text[d.InputOffset():]
			} else if wrong := (*json.SyntaxError)(nil); errors.As(err, &wrong) {
				spent += wrong.Offset + 64 // which a decoder costs
			} else {
				return // it has no end
			}
		}
		nl := bytes.IndexByte(text, '\n')
		if nl < 0 {
			return
		}
		text = text[nl+1:]
	}
}

// OnStderr looks for the last word of a manager's worker on standard error, which is where such workers say that they failed. It is
// asked where the process exits 0 without a last word on standard output. The answer is one if found is true, the error included
// that there was more than one last word.
func OnStderr(text string) (output value.Value, err *event.Error, found bool) {
	var l Lines
	l.scan([]byte(text))
	return l.result, l.End(), l.finals > 0
}

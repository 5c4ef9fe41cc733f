package machine

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// parseOutput computes a node's output from the answer of its attempt.
func (m *Machine) parseOutput(n *plan.Node, f *event.AttemptFinished) (value.Value, *event.Error) {
	run, ok := n.Action.(*ir.Run)
	if !ok || f.Output != nil {
		return f.Output, nil // from the executor, or from $FLOWRUN_OUTPUT
	}
	switch run.Parse {
	case "", ir.ParseText:
	case ir.ParseNone:
		return nil, nil
	case ir.ParseLines:
		text := strings.TrimSuffix(f.Stdout, "\n")
		if text == "" {
			return []any{}, nil
		}
		lines := strings.Split(text, "\n")
		list := make([]any, len(lines))
		for i, l := range lines {
			list[i] = strings.TrimSuffix(l, "\r")
		}
		return list, nil
	case ir.ParseJSON:
		v, err := value.Decode([]byte(f.Stdout))
		if err != nil {
			return nil, &event.Error{Kind: event.Blocking, Reason: event.ReasonBadJSON, ExitCode: -1, Message: "standard output is not JSON: " + err.Error()}
		}
		return v, nil
	default:
		assert(false, "%s has the unknown parse %q", n.Name, run.Parse)
	}
	return strings.TrimRight(f.Stdout, "\r\n"), nil
}

// convertOutput converts a node's output to its declared type.
func (m *Machine) convertOutput(r ref) *event.Error {
	d, t := m.liveState(r), m.declaredType(r)
	if t == nil {
		return nil
	}
	v, err := value.Convert(d.output, *t)
	if err != nil {
		return &event.Error{Kind: event.Fatal, Reason: event.ReasonOutputType, ExitCode: -1,
			Message: "the output is not of its declared type: " + err.Error()}
	}
	d.output = v
	return nil
}

// Bound keeps the head and the tail of a text and says between them how much is left out. The
// result has at most limit bytes and a mark, and never half a character.
func Bound(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head, tail := text[:limit/2], text[len(text)-limit/2:]
	for len(head) > 0 && !utf8.RuneStart(text[len(head)]) {
		head = head[:len(head)-1]
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return fmt.Sprintf("%s\n[flowrun: %d bytes left out]\n%s", head, len(text)-len(head)-len(tail), tail)
}

package compose

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// ParseOutput computes a node's output from the answer of its attempt. Only the output of a program
// is parsed; an output from the executor, or from $FLOWRUN_OUTPUT, is taken as it is.
func ParseOutput(a ir.Action, f *event.AttemptFinished) (value.Value, *event.Error) {
	run, ok := a.(*ir.Run)
	if !ok || f.Output != nil {
		return f.Output, nil
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
	default: // the IR has no other parse
		panic(fmt.Sprintf("compose: %s has the unknown parse %q", f.Node, run.Parse))
	}
	return strings.TrimRight(f.Stdout, "\r\n"), nil
}

// ConvertOutput converts an output to its declared type; nil stands for no declared type.
func ConvertOutput(v value.Value, t *value.Type) (value.Value, *event.Error) {
	if t == nil {
		return v, nil
	}
	out, err := value.Convert(v, *t)
	if err != nil {
		return nil, &event.Error{Kind: event.Fatal, Reason: event.ReasonOutputType, ExitCode: -1,
			Message: "the output is not of its declared type: " + err.Error()}
	}
	return out, nil
}

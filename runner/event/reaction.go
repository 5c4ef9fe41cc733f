package event

import (
	"encoding/json"

	"github.com/flowrun/flowrun/dsl/value"
)

// Reaction is what one or more events caused. Hosts carry out Commands in order, after the events are durable.
type Reaction struct {
	Commands    []Command
	Transitions []Transition
}

// Reset empties r and keeps its memory.
func (r *Reaction) Reset() { r.Commands, r.Transitions = r.Commands[:0], r.Transitions[:0] }

// AppendTo writes the bytes that a digest is made of: all commands, then all transitions, a line of JSON each. Words for
// people are no part of it (reasons, messages): to say something better must not make an old journal diverge.
func (r *Reaction) AppendTo(dst []byte) []byte {
	for i := range r.Commands {
		dst = appendJSON(dst, &r.Commands[i])
		if end := r.Commands[i].End; end != nil {
			dst = appendError(dst, end.Error)
		}
	}
	for _, t := range r.Transitions {
		if t.Gate != nil {
			t.Gate = &Verdict{Gate: t.Gate.Gate, Passed: t.Gate.Passed, Warning: t.Gate.Warning}
		}
		dst = appendJSON(dst, &t)
		if t.Result == nil {
			continue
		}
		dst = appendError(dst, t.Result.Error)
		if t.Result.Computed {
			dst = append(value.Append(dst, t.Result.Output), '\n')
		}
	}
	return dst
}

// appendError writes what an error is, without how it is put.
func appendError(dst []byte, e *Error) []byte {
	if e == nil {
		return dst
	}
	facts := *e
	facts.Message = ""
	return appendJSON(dst, &facts)
}

func appendJSON(dst []byte, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("event: a reaction that is not JSON: " + err.Error()) // plain data by construction
	}
	return append(append(dst, b...), '\n')
}

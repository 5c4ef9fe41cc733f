// Package mask takes secrets out of text.
//
// A [Masker] knows some secrets and puts [Mark] in the place of each of them: in a stream that comes in pieces of any size
// ([Masker.Writer], [Masker.Reader]), in a text, and deep in a value. It finds a secret as it is, each of its longer lines,
// and what common encodings make of both (forms.go, escapes.go), base64 and hex in lines of any length. A secret that is taken to pieces, turned round or packed is not found:
// masking keeps accidents from being seen, and no program from telling what it was given.
//
// It knows no attempt, no run and no stream of any process. Enter at [New]. automaton.go finds, lines.go finds across ends of lines, glance.go finds nothing fast, writer.go replaces.
//
// What always holds:
//
//   - What comes out does not depend on the pieces that the text came in.
//   - Every byte of every occurrence is replaced, where occurrences overlap too; all other bytes stay as they are. Occurrences
//     that touch are one Mark.
//   - The time is linear in the text, whatever the secrets and the text are. At most the length of the longest form is held back, and
//     the ends of lines in it.
//   - A nil *Masker masks nothing and costs nothing.
package mask

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
)

// Mark stands where a secret was.
const Mark = "(sensitive)"

// Bounds of what can be masked, in bytes.
const (
	// MinSecret is the shortest text that is looked for. A shorter one stands in half of all texts by chance.
	MinSecret = 4
	// MinLine is the shortest line of a secret of several lines that is looked for by itself.
	MinLine = 8
	// MaxSecrets is how long all secrets of a Masker may be together. A byte costs about 700 bytes of memory, and 1,100 where
	// it needs escapes everywhere (TestMemory).
	MaxSecrets = 64 << 10
)

// Masker knows secrets. It is safe for concurrent use.
type Masker struct {
	layers []*layer
	glance
}

// layer finds some of what is looked for.
type layer struct{ plain, wrapped automaton }

// And makes a Masker of what both look for, which costs little. Either may be nil.
func (m *Masker) And(other *Masker) *Masker {
	switch {
	case m == nil:
		return other
	case other == nil:
		return m
	}
	both := &Masker{layers: slices.Concat(m.layers, other.layers), glance: m.glance}
	both.merge(&other.glance)
	return both
}

// New makes a Masker. Texts shorter than [MinSecret] are passed over: whoever takes secrets in refuses them, and so does he
// with what goes beyond [MaxSecrets]. Without any secret the Masker is nil.
func New(secrets []string) *Masker {
	plain, wrapped := formsOf(secrets)
	if len(plain) == 0 {
		return nil
	}
	return find(plain, wrapped)
}

// find makes a Masker of all that is looked for.
func find(plain, wrapped []string) *Masker {
	l := &layer{}
	l.plain.build(plain)
	l.wrapped.build(wrapped)
	m := &Masker{layers: []*layer{l}}
	m.glance.add(plain)
	m.glance.addWrapped(wrapped)
	return m
}

// Text is s without secrets.
func (m *Masker) Text(s string) string { return m.text(s, false) }

// Message is s without secrets, and without what a secret begins with: for messages that quote values and cut them short. It
// replaces too much rather than too little.
func (m *Masker) Message(s string) string { return m.text(s, true) }

func (m *Masker) text(s string, strict bool) string {
	if m == nil || len(s) < MinSecret {
		return s
	}
	var out []byte
	w := m.Writer(func(p []byte) { out = append(out, p...) })
	w.strict = strict
	w.Write([]byte(s))
	w.End()
	if string(out) == s {
		return s
	}
	return string(out)
}

// Value is v without secrets, in texts, numbers and names of members. Of two members whose names become the same one is
// left.
func (m *Masker) Value(v value.Value) value.Value {
	if m == nil {
		return v
	}
	switch v := v.(type) {
	case string:
		return m.Text(v)
	case float64:
		text := string(value.AppendNumber(nil, v))
		if masked := m.Text(text); masked != text {
			return masked
		}
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = m.Value(e)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for _, k := range value.Keys(v) {
			object[m.Text(k)] = m.Value(v[k])
		}
		return object
	}
	return v
}

// Strings lists the texts of a secret value that must not be seen: its strings and numbers, however deep. Names of members,
// bools and empty strings tell nothing.
func Strings(v value.Value) (list []string) {
	switch v := v.(type) {
	case string:
		if strings.TrimSpace(v) != "" {
			list = append(list, v)
		}
	case float64:
		list = append(list, string(value.AppendNumber(nil, v)))
	case []any:
		for _, e := range v {
			list = append(list, Strings(e)...)
		}
	case map[string]any:
		for _, k := range value.Keys(v) {
			list = append(list, Strings(v[k])...)
		}
	}
	return list
}

package memory

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/flowrun/flowrun/memory/entry"
)

// Line is an entry as a line of JSON, in imports and exports.
type Line struct {
	ID          string       `json:"id"`
	Text        string       `json:"text,omitempty"`
	CreatedAt   string       `json:"created_at,omitempty"`
	Importance  *float64     `json:"importance,omitempty"` // nil: by the type
	Agent       string       `json:"agent,omitempty"`
	Type        entry.Type   `json:"type,omitempty"`
	Tags        []string     `json:"tags,omitempty"`
	Session     string       `json:"session,omitempty"`
	Context     string       `json:"context,omitempty"`
	Observation string       `json:"observation,omitempty"`
	Lesson      string       `json:"lesson,omitempty"`
	Scope       *entry.Scope `json:"scope,omitempty"` // nil: the agent's, or shared
}

// next reads a line, without its end and the spaces around it.
func (i *importing) next() ([]byte, error) {
	var line []byte
	i.line++
	for {
		part, err := i.in.ReadSlice('\n')
		i.bytes += int64(len(part))
		line = append(line, part...)
		if len(line) > MaxLine {
			return nil, bad("the line is longer than %d bytes", MaxLine)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if i.line == 1 {
			line = bytes.TrimPrefix(line, []byte("\uFEFF"))
		}
		return bytes.TrimSpace(line), err
	}
}

// parse reads an entry from its line.
func (i *importing) parse(b []byte) (d draft, err error) {
	if !utf8.Valid(b) {
		return d, bad("the line is not UTF-8")
	}
	var l Line
	in := json.NewDecoder(bytes.NewReader(b))
	in.DisallowUnknownFields()
	if err := in.Decode(&l); err != nil {
		return d, bad("%s", explain(err))
	}
	if in.InputOffset() < int64(len(b)) {
		return d, bad("something follows the entry")
	}
	d = draft{named: true, Entry: entry.Entry{
		ID: l.ID, Agent: l.Agent, Type: l.Type, Text: l.Text, Context: l.Context, Observation: l.Observation, Lesson: l.Lesson,
		Tags: l.Tags, Session: l.Session, By: i.o.By,
	}}
	if l.CreatedAt != "" {
		d.dated = true
		if d.CreatedAt, err = time.Parse(time.RFC3339, l.CreatedAt); err != nil {
			return d, bad("created_at %q is not a time such as 2023-05-08T13:56:00Z", l.CreatedAt)
		}
	}
	switch {
	case l.Scope != nil:
		d.Scope = *l.Scope
	case l.Agent != "":
		d.Scope = entry.OfAgent(l.Agent)
	}
	if l.Importance != nil {
		d.Importance, d.weighed = *l.Importance, true
	}
	return d, d.prepare(i.now)
}

// explain says in plain words what the decoder found.
func explain(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Sprintf("the line is a JSON %s and no object", kind.Value)
	case errors.As(err, &kind):
		return fmt.Sprintf("%q can't be a %s", kind.Field, kind.Value)
	case errors.As(err, &syntax), errors.Is(err, io.ErrUnexpectedEOF):
		return "the line is not a JSON object: " + err.Error()
	}
	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return "there is no field " + field
	}
	return err.Error()
}

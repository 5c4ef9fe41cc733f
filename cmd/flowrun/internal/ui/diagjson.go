package ui

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/view"
)

// checkJSON is what validate --format json prints: the fields of terraform validate -json, and a code, notes and edits.
type checkJSON struct {
	FormatVersion string     `json:"format_version"`
	Valid         bool       `json:"valid"`
	ErrorCount    int        `json:"error_count"`
	WarningCount  int        `json:"warning_count"`
	Diagnostics   []diagJSON `json:"diagnostics"`
}

type diagJSON struct {
	Severity string       `json:"severity"`
	Code     string       `json:"code"`
	Summary  string       `json:"summary"`
	Detail   string       `json:"detail"`
	Range    *rangeJSON   `json:"range,omitempty"`
	Snippet  *snippetJSON `json:"snippet,omitempty"`
	Notes    []noteJSON   `json:"notes,omitempty"`
	Edit     *editJSON    `json:"edit,omitempty"`
}

type rangeJSON struct {
	Filename string  `json:"filename"`
	Start    posJSON `json:"start"`
	End      posJSON `json:"end"`
}

type posJSON struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Byte   int `json:"byte"`
}

// snippetJSON has the source line as it is; the highlight's offsets are bytes into code.
type snippetJSON struct {
	Context              *string `json:"context"`
	Code                 string  `json:"code"`
	StartLine            int     `json:"start_line"`
	HighlightStartOffset int     `json:"highlight_start_offset"`
	HighlightEndOffset   int     `json:"highlight_end_offset"`
	Values               []any   `json:"values"`
}

type noteJSON struct {
	Text  string     `json:"text"`
	Range *rangeJSON `json:"range,omitempty"`
}

type editJSON struct {
	Range rangeJSON `json:"range"`
	Text  string    `json:"text"`
}

// DiagnosticsJSON writes a whole list, sorted, as one JSON object on a line of its own.
func DiagnosticsJSON(w io.Writer, list diag.List, sources Sources) error {
	out := checkJSON{FormatVersion: "1.0", Valid: !list.HasErrors(), Diagnostics: []diagJSON{}}
	for _, d := range list.Sort() {
		switch d.Severity {
		case diag.Error:
			out.ErrorCount++
		case diag.Warning:
			out.WarningCount++
		}
		out.Diagnostics = append(out.Diagnostics, toJSON(d, sources))
	}
	return WriteJSON(w, out)
}

func toJSON(d diag.Diagnostic, sources Sources) diagJSON {
	out := diagJSON{Severity: d.Severity.String(), Code: d.Code, Summary: d.Summary, Detail: d.Detail, Range: rangeOf(d.Subject)}
	if file := d.Subject.File; out.Range == nil && file != "" { // the file as a whole: its beginning
		first := posJSON{Line: 1, Column: 1}
		out.Range = &rangeJSON{file, first, first}
	}
	if line, start := lineAt(sources[d.Subject.File], d.Subject.Start.Byte); d.Subject.Set() && sources[d.Subject.File] != nil && start >= 0 {
		from := min(d.Subject.Start.Byte-start, len(line))
		out.Snippet = &snippetJSON{Code: line, StartLine: d.Subject.Start.Line, HighlightStartOffset: from,
			HighlightEndOffset: max(from, min(d.Subject.End.Byte-start, len(line))), Values: []any{}}
		if d.Context != "" {
			out.Snippet.Context = &d.Context
		}
	}
	for _, n := range d.Notes {
		out.Notes = append(out.Notes, noteJSON{n.Text, rangeOf(n.Range)})
	}
	if d.Edit != nil {
		out.Edit = &editJSON{rangeJSON{d.Edit.Range.File, posJSON(d.Edit.Range.Start), posJSON(d.Edit.Range.End)}, d.Edit.Text}
	}
	return out
}

func rangeOf(r diag.Range) *rangeJSON {
	if !r.Set() {
		return nil
	}
	return &rangeJSON{r.File, posJSON(r.Start), posJSON(r.End)}
}

// WriteJSON writes one value on one line, without escaping what HTML would need, and with all escaped that acts on a terminal.
func WriteJSON(w io.Writer, v any) error { return writeJSON(w, v, "") }

func writeJSON(w io.Writer, v any, indent string) error {
	text, err := marshal(v, indent)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// WriteRun writes a run on one line like WriteJSON, one node after the other. begun are the attempts that have not answered, and trouble is
// what keeps the run from going on. The members of the object more follow those of the run.
func WriteRun(w io.Writer, r *view.Run, begun []*view.Begun, trouble string, more any) error {
	out := bufio.NewWriter(w)
	err := r.Write(func(d *view.Document) {
		d.Trouble = trouble
		for _, b := range begun {
			d.Unanswered = append(d.Unanswered, b.Document())
		}
	}, more, func(v any) ([]byte, error) {
		text, err := marshal(v, "")
		return bytes.TrimSuffix(text, []byte{'\n'}), err
	}, func(part []byte) error {
		_, err := out.Write(part)
		return err
	})
	if err != nil {
		return err
	}
	if err := out.WriteByte('\n'); err != nil {
		return err
	}
	return out.Flush()
}

// marshal gives a value as JSON that is safe on a terminal, and a line break.
func marshal(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return escapeJSON(b.Bytes()), nil
}

// JSONText returns a value as JSON that is safe on a terminal.
func JSONText(v value.Value) string { return string(escapeJSON(value.Append(nil, v))) }

// escapeJSON escapes what is hidden, as JSON does it; it can only stand in strings.
func escapeJSON(b []byte) []byte {
	if !bytes.ContainsFunc(b, func(r rune) bool { return r >= 0x7f && hidden(r) }) {
		return b
	}
	var out []byte
	for _, r := range string(b) {
		switch {
		case r < 0x7f || !hidden(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

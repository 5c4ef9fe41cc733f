package ui

import (
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dsl/diag"
)

// Report is what validate found, with all that the forms for programs need beside it.
type Report struct {
	List    diag.List // sorted
	Sources Sources
	Checked string // the line about programs without errors
	Release string // flowrun's own
	Unread  bool   // a file could not be read, so the report is not whole
	// Base gives a file's path relative to the root of the repository, with slashes, or ok false where it lies outside.
	Base func(file string) (path string, ok bool)
	// Rule explains a code.
	Rule func(code string) Rule
}

// Rule is what there is to know of a code without any file.
type Rule struct {
	Title string // a sentence
	Help  string // Markdown: why, and what to do
	URL   string // of its page
}

// Formats are the forms of a report, in the order in which help names them.
var Formats = []string{"text", "compact", "json", "github", "sarif", "junit"}

// Write writes the report in one of [Formats] but text to a terminal, which is [Diagnostics].
func (r *Report) Write(w io.Writer, format string) error {
	switch format {
	case "text":
		return r.text(w)
	case "compact":
		return r.compact(w)
	case "json":
		return DiagnosticsJSON(w, r.List, r.Sources)
	case "github":
		return r.github(w)
	case "sarif":
		return r.sarif(w)
	case "junit":
		return r.junit(w)
	}
	return fmt.Errorf("no form of a report is called %q", format)
}

// text writes every finding as a terminal without colour shows it, and the line about programs without errors.
func (r *Report) text(w io.Writer) error {
	t := NewTerm(w, "never", func(string) string { return "" })
	for i := range r.List {
		if i > 0 {
			t.Printf("\n")
		}
		t.Printf("%s", diagnostic(t, &r.List[i], r.Sources))
	}
	if !r.List.HasErrors() {
		t.Printf("%s\n", r.Checked)
	}
	return t.Err()
}

// compact writes a line for each finding, as compilers do: file:line:column: severity: summary (code).
func (r *Report) compact(w io.Writer) error {
	for i := range r.List {
		if _, err := fmt.Fprintln(w, line(&r.List[i])); err != nil {
			return err
		}
	}
	return nil
}

func line(d *diag.Diagnostic) string {
	at := d.Subject.File
	if d.Subject.Set() {
		at = d.Subject.String()
	}
	return fmt.Sprintf("%s: %s: %s (%s)", Clean(at), d.Severity, Clean(d.Summary), d.Code)
}

// count returns how many findings are of a severity.
func (r *Report) count(s diag.Severity) (n int) {
	for i := range r.List {
		if r.List[i].Severity == s {
			n++
		}
	}
	return n
}

// column counts a place's column from 1 in units of its own: size says how many a character has. Without the source it
// is the column in characters as editors show them.
func column(src []byte, p diag.Pos, size func(rune) int) int {
	text, start := lineAt(src, p.Byte)
	if src == nil || start < 0 {
		return p.Column
	}
	n := 1
	for _, c := range text[:min(p.Byte-start, len(text))] {
		n += size(c)
	}
	return n
}

// codePoints and utf16Units are units of columns.
func codePoints(rune) int { return 1 }

func utf16Units(c rune) int {
	if c > 0xffff {
		return 2
	}
	return 1
}

// cutBytes cuts text to at most so many bytes, the last of them an ellipsis where something was cut.
func cutBytes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	const mark = "…"
	for most -= len(mark); most > 0 && !utf8.RuneStart(s[most]); most-- {
	}
	return s[:most] + mark
}

// Checked is the word about programs without errors.
func Checked(programs, nodes int, found diag.List) string {
	s := fmt.Sprintf("%s with %s: no errors", Count(programs, "program"), Count(nodes, "node"))
	count := map[diag.Severity]int{}
	for i := range found {
		count[found[i].Severity]++
	}
	if n := count[diag.Warning]; n > 0 {
		s += ", " + Count(n, "warning")
	}
	if n := count[diag.Advice]; n > 0 {
		s += ", " + Count(n, "piece") + " of advice"
	}
	return s
}

// Package diag is the one type for everything that a user may read about a file: what is wrong, where, why, and what to do.
//
// Stages collect diagnostics and never stop at the first; warnings leave on every path; sorting happens when they are
// shown ([List.Sort]). The package renders nothing and imports nothing of flowrun: writers for text, JSON and the
// formats of CI systems stand with the command line.
package diag

import (
	"fmt"
	"slices"
	"sort"
	"unicode/utf8"
)

// Severity says whether a file is refused. The zero value is Error, so that a forgotten one is never too mild.
type Severity int

// The severities.
const (
	Error Severity = iota
	Warning
	Advice
)

func (s Severity) String() string { return [...]string{"error", "warning", "advice"}[s] }

// Pos is a place in a file. Line and Column count from 1, Column in grapheme clusters as editors show them; Byte from 0.
type Pos struct {
	Line, Column, Byte int
}

// Range is a piece of a file; End is behind its last character. The zero Range means "no place".
type Range struct {
	File       string // as the user named it, relative where it can be
	Start, End Pos
}

// Set tells whether the range names a place.
func (r Range) Set() bool { return r.Start.Line > 0 }

func (r Range) String() string { return fmt.Sprintf("%s:%d:%d", r.File, r.Start.Line, r.Start.Column) }

// Note points to another place that belongs to the matter: "declared here".
type Note struct {
	Text  string
	Range Range
}

// Edit is a replacement that would mend the file, offered only where it is certain.
type Edit struct {
	Range Range
	Text  string
}

// Diagnostic is one finding. Code is stable ("F0201"), Summary says what is wrong in a line without a full stop,
// Detail why and what to do in sentences. Subject is the tight range that gets the caret, Context the block around it
// in words ("step \"ship\""), if there is one.
type Diagnostic struct {
	Severity Severity
	Code     string
	Summary  string
	Detail   string
	Subject  Range
	Context  string
	Notes    []Note
	Edit     *Edit
}

func (d Diagnostic) Error() string {
	return fmt.Sprintf("%s: %s: %s (%s)", d.Subject, d.Severity, d.Summary, d.Code)
}

// The bounds of what a diagnostic says, in bytes. A name in a file can be as long as a line.
const (
	MaxSummary = 200
	MaxDetail  = 4000
)

// fitToShow cuts the texts to their bounds and hides the passwords of URLs.
func (d Diagnostic) fitToShow() Diagnostic {
	d.Summary, d.Detail = cut(HideUserinfo(d.Summary), MaxSummary), cut(HideUserinfo(d.Detail), MaxDetail)
	d.Notes = slices.Clone(d.Notes)
	for i := range d.Notes {
		d.Notes[i].Text = HideUserinfo(d.Notes[i].Text)
	}
	return d
}

// cut shortens a text that is longer than n bytes in its middle: what is wrong stands at both ends.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const mark = " … "
	head, tail := (n-len(mark))*3/4, len(s)-(n-len(mark))/4
	for !utf8.RuneStart(s[head]) {
		head--
	}
	for !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + mark + s[tail:]
}

// List is what stages hand on.
type List []Diagnostic

// HasErrors tells whether the program must be refused.
func (l List) HasErrors() bool {
	for i := range l {
		if l[i].Severity == Error {
			return true
		}
	}
	return false
}

// Sort orders by file, place, severity and code, drops exact repeats, cuts texts to their bounds, and hides the
// passwords of URLs.
func (l List) Sort() List {
	sort.SliceStable(l, func(i, j int) bool { return less(l[i], l[j]) })
	out := l[:0]
	for i, d := range l {
		d = d.fitToShow()
		if i > 0 {
			p := out[len(out)-1]
			if p.Code == d.Code && p.Subject == d.Subject && p.Summary == d.Summary {
				continue
			}
		}
		out = append(out, d)
	}
	return out
}

func less(a, b Diagnostic) bool {
	switch {
	case a.Subject.File != b.Subject.File:
		return a.Subject.File < b.Subject.File
	case a.Subject.Start.Byte != b.Subject.Start.Byte:
		return a.Subject.Start.Byte < b.Subject.Start.Byte
	case a.Severity != b.Severity:
		return a.Severity < b.Severity
	}
	return a.Code < b.Code
}

package ui

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
)

// MaxSummaryBytes bounds the summary of a step under GitHub Actions, whoever writes to it; the platform drops a larger
// one as a whole.
const MaxSummaryBytes = 1 << 20

// summaryTail is kept free for the line that counts what did not fit.
const summaryTail = 200

// Summary is the report as Markdown for a job summary, in at most so many bytes; "" where not even its head fits.
func (r *Report) Summary(most int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### flowrun validate: %s\n\n", r.verdict())
	if len(r.List) > 0 {
		b.WriteString("| | place | finding |\n|---|---|---|\n")
	}
	if b.Len()+summaryTail > most {
		return ""
	}
	for i := range r.List {
		row := r.row(&r.List[i])
		if b.Len()+len(row)+summaryTail > most {
			fmt.Fprintf(&b, "\n… and %s more.\n", Count(len(r.List)-i, "finding"))
			break
		}
		b.WriteString(row)
	}
	return b.String()
}

func (r *Report) row(d *diag.Diagnostic) string {
	code := d.Code
	if u := r.Rule(d.Code).URL; u != "" {
		code = "[" + d.Code + "](" + u + ")"
	}
	at := d.Subject.File
	if d.Subject.Set() {
		at = d.Subject.String()
	}
	return fmt.Sprintf("| %s %s | %s | **%s** %s |\n", d.Severity, code, cell(at), cell(d.Summary), cell(d.Detail))
}

// cell makes text safe for a cell of a Markdown table: no markup of Markdown or HTML, no mention of a person, no new row.
func cell(s string) string {
	var b strings.Builder
	for _, c := range strings.ReplaceAll(CleanLines(s), "\n", " ") {
		if c < 0x80 && !(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.ContainsRune(" .,;/()\"'?=-", c)) {
			fmt.Fprintf(&b, "&#%d;", c)
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

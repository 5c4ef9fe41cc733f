package ui

import (
	"fmt"
	"io"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
)

// Bounds of the platform. Its runner keeps 10 annotations of each severity a step and cuts none of them short: what is
// longer than 4096 characters is lost (_maxIssueCount and _maxIssueMessageLength in actions/runner, ExecutionContext.cs).
// A title has 255 characters in the API of check runs.
const (
	MaxAnnotations     = 10
	MaxAnnotationBytes = 4096
	MaxTitleBytes      = 255
)

// github writes workflow commands, which the platform shows beside the lines of a change; what it would drop is
// written as plain lines of the log, and counted.
func (r *Report) github(w io.Writer) error {
	var b strings.Builder
	shown := map[diag.Severity]int{}
	var rest []string
	for i := range r.List {
		d := &r.List[i]
		if shown[d.Severity]++; shown[d.Severity] > MaxAnnotations {
			rest = append(rest, plainLog(line(d)))
			continue
		}
		b.WriteString(r.annotation(d) + "\n")
	}
	for _, l := range rest {
		b.WriteString(l + "\n")
	}
	if len(rest) > 0 {
		fmt.Fprintf(&b, "%s above without an annotation: a step can have %d of each severity.\n", Count(len(rest), "finding"), MaxAnnotations)
	}
	fmt.Fprintf(&b, "%s\n", r.verdict())
	_, err := io.WriteString(w, b.String())
	return err
}

// verdict is the last line: how many findings there are.
func (r *Report) verdict() string {
	if !r.List.HasErrors() {
		return r.Checked
	}
	s := Count(r.count(diag.Error), "error")
	if n := r.count(diag.Warning); n > 0 {
		s += ", " + Count(n, "warning")
	}
	return s
}

// annotation is one workflow command. The message repeats the place, because the log shows the message alone.
func (r *Report) annotation(d *diag.Diagnostic) string {
	command := map[diag.Severity]string{diag.Error: "error", diag.Warning: "warning", diag.Advice: "notice"}[d.Severity]
	var props []string
	add := func(name, text string) { props = append(props, name+"="+property(text)) }
	if d.Subject.File != "" {
		path, _ := r.Base(d.Subject.File)
		add("file", Clean(path))
	}
	if s := d.Subject; s.Set() {
		src := r.Sources[s.File]
		add("line", fmt.Sprint(s.Start.Line))
		add("endLine", fmt.Sprint(max(s.Start.Line, s.End.Line)))
		if s.End.Line <= s.Start.Line { // the platform takes columns only within a line
			add("col", fmt.Sprint(column(src, s.Start, codePoints)))
			add("endColumn", fmt.Sprint(max(column(src, s.Start, codePoints), column(src, s.End, codePoints))))
		}
	}
	add("title", cutBytes(fmt.Sprintf("%s (%s)", Clean(d.Summary), d.Code), MaxTitleBytes))
	text := line(d)
	if d.Detail != "" {
		text += "\n" + CleanLines(strings.TrimRight(d.Detail, "\n"))
	}
	for _, n := range d.Notes {
		if text += "\n" + Clean(n.Text); n.Range.Set() {
			text += " (" + Clean(n.Range.String()) + ")"
		}
	}
	return "::" + command + " " + strings.Join(props, ",") + "::" + message(cutBytes(text, MaxAnnotationBytes))
}

// message escapes the text of a workflow command, property the value of one of its properties.
func message(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}

// plainLog makes a line that is not a command to the runner: it takes "::" at the beginning of a line for one, and "##["
// anywhere in it.
func plainLog(s string) string {
	s = strings.ReplaceAll(s, "##[", "# #[")
	if strings.HasPrefix(strings.TrimSpace(s), "::") {
		s = "\\" + s
	}
	return s
}

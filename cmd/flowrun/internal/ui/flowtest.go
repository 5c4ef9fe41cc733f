package ui

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/flowtest"
	"github.com/flowrun/flowrun/runner/view"
)

// TestReport is what the tests of some files came to.
type TestReport struct {
	Files    []TestFile
	Sources  Sources
	Took     time.Duration // real
	Coverage []TestCoverage
	Covered  bool // the text says what no test reached
	// Base gives the path of a file from the root of the repository, for annotations.
	Base func(name string) (path string, inside bool)
}

// TestCoverage is what the tests reached of one program.
type TestCoverage struct {
	*flowtest.Coverage
	Program string // its path
	Places  map[string]diag.Range
}

// Line is where a point is declared; the zero Range where that is not known.
func (c *TestCoverage) Line(p flowtest.Point) diag.Range {
	node, gate, _ := strings.Cut(p.Name, "/")
	if p.Kind == flowtest.GatePoint {
		if r := c.Places[p.Workflow+"/"+node+"/gate."+gate]; r.Set() {
			return r
		}
	}
	return c.Places[p.Workflow+"/"+node]
}

// Where is the place of a point as FILE:LINE, or "".
func (c *TestCoverage) Where(p flowtest.Point) string {
	r := c.Line(p)
	if !r.Set() {
		return ""
	}
	return fmt.Sprintf("%s:%d", r.File, r.Start.Line)
}

// TestFile is one test file with the results of its tests, in file order.
type TestFile struct {
	Name    string
	Results []*flowtest.Result
}

// Tests is how many tests were run.
func (r *TestReport) Tests() (n int) {
	for _, f := range r.Files {
		n += len(f.Results)
	}
	return n
}

// Failed is how many tests failed.
func (r *TestReport) Failed() (n int) {
	for _, f := range r.Files {
		for _, t := range f.Results {
			if !t.Passed() {
				n++
			}
		}
	}
	return n
}

// Write writes the report in one of args.TestFormats.
func (r *TestReport) Write(w io.Writer, format string) error {
	switch format {
	case "json":
		return WriteJSON(w, r.document())
	case "junit":
		return r.junit(w)
	case "github":
		return r.github(w)
	}
	_, err := io.WriteString(w, colourless(func(t *Term) { r.Text(t) }))
	return err
}

// Text writes the report for people.
func (r *TestReport) Text(t *Term) {
	for _, f := range r.Files {
		if len(f.Results) > 0 {
			t.Printf("%s\n", t.Style(bold, f.Name))
		}
		for _, result := range f.Results {
			testText(t, result)
		}
	}
	tests, failed := r.Tests(), r.Failed()
	words := t.Style(green, fmt.Sprintf("%d passed", tests-failed))
	if failed > 0 {
		words = t.Style(red, fmt.Sprintf("%d failed", failed)) + ", " + words
	}
	if r.Covered {
		r.coverageText(t)
	}
	t.Printf("\n%s: %s in %s\n", Count(tests, "test"), words, Duration(r.Took))
}

// MaxTimeline bounds the lines of the timeline of one test that the screen shows: the last ones.
const MaxTimeline = 40

// testText writes the result of one test: a line, and if it failed why.
func testText(t *Term, r *flowtest.Result) {
	mark, style := "✓", green
	if !r.Passed() {
		mark, style = "✗", red
	}
	t.Printf("  %s %s  %s\n", t.Style(style, mark), Clean(r.Test.Name), t.Style(dim, fmt.Sprintf("%s after %s%s", statusText(r), Duration(r.Elapsed), crashesText(r.Crashes))))
	if r.Passed() {
		return
	}
	for i := range r.Failures {
		t.Printf("\n%s", indent(failureText(t, &r.Failures[i], r.Elapsed), "      ")+"\n")
	}
	for _, h := range r.Hints {
		t.Printf("\n      %s\n", t.Style(yellow, Clean(h.Text)))
		if h.Block != "" {
			t.Printf("\n%s\n", indent(h.Block, "        "))
		}
	}
	for _, l := range r.Leftover {
		t.Printf("\n      %s\n", t.Style(yellow, leftoverText(&l)))
	}
	if len(r.Runs) > 0 {
		t.Printf("\n      runs:\n")
	}
	for i := range r.Runs {
		if i == MaxTimeline {
			t.Printf("        and %d more\n", len(r.Runs)-i)
			break
		}
		t.Printf("        %s\n", runText(t, &r.Runs[i]))
	}
	if len(r.Path) > 0 {
		t.Printf("\n      path: %s\n", Clean(strings.Join(lastOf(r.Path, MaxTimeline), ", ")))
	}
	lines := r.Timeline
	if cut := len(lines) - MaxTimeline; cut > 0 {
		t.Printf("      timeline, without the first %s:\n", Count(cut, "line"))
		lines = lines[cut:]
	} else if len(lines) > 0 {
		t.Printf("      timeline:\n")
	}
	for i := range lines {
		t.Printf("        %s\n", timelineText(t, &lines[i]))
	}
	t.Printf("\n")
}

// statusText is how the run of a test ended, or how many of its runs ended how.
func statusText(r *flowtest.Result) string {
	if len(r.Runs) == 0 {
		return string(r.Status)
	}
	count := map[event.Status]int{}
	var order []event.Status
	for i := range r.Runs {
		s := r.Runs[i].Status
		if count[s]++; count[s] == 1 {
			order = append(order, s)
		}
	}
	words := Count(len(r.Runs), "run")
	if len(order) == 1 {
		return words + " " + string(order[0])
	}
	var parts []string
	for _, s := range order {
		parts = append(parts, fmt.Sprintf("%d %s", count[s], s))
	}
	return words + " (" + strings.Join(parts, ", ") + ")"
}

// runText is one run of a test with several.
func runText(t *Term, r *flowtest.RunEnd) string {
	name := r.Label
	if name == "" {
		name = "(the test's own)"
	}
	text := fmt.Sprintf("%-24s %s", Clean(name), r.Status)
	if r.Started >= 0 {
		text += ", began at +" + Duration(r.Started)
	}
	if r.Ended >= 0 {
		text += ", ended at +" + Duration(r.Ended)
	}
	if r.Status.Bad() {
		return t.Style(red, text)
	}
	return text
}

func crashesText(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", and the same with %s", plural(n, "crash", "crashes"))
}

func lastOf(list []string, n int) []string {
	if cut := len(list) - n; cut > 0 {
		return append([]string{"…"}, list[cut:]...)
	}
	return list
}

// failureText is why a test failed, in lines.
func failureText(t *Term, f *flowtest.Failure, elapsed time.Duration) string {
	where := Clean(fmt.Sprintf("%s:%d:%d", f.At.File, f.At.Line, f.At.Column))
	var b strings.Builder
	switch f.Kind {
	case flowtest.Unmet:
		at := ""
		if f.After != elapsed {
			at = " at " + Duration(f.After)
		}
		fmt.Fprintf(&b, "%s: this does not hold%s:\n  %s\n", where, at, t.Style(bold, Clean(f.Text)))
		for _, part := range f.Unmet {
			fmt.Fprintf(&b, "  %s %s\n", t.Style(red, "✗"), Clean(part))
		}
		for _, v := range f.Values {
			fmt.Fprintf(&b, "  %s = %s\n", Clean(v.Name), Clean(shortValue(v.Value)))
		}
		if f.Message != "" {
			fmt.Fprintf(&b, "  it cannot be computed: %s\n", Clean(f.Message))
		}
	case flowtest.Unasked:
		fmt.Fprintf(&b, "%s: this was not reached, because %s:\n  %s\n", where, cmp.Or(Clean(f.Message), "the test ended before"), Clean(f.Text))
	case flowtest.NoStub:
		fmt.Fprintf(&b, "%s: no stub answers %s, which started after %s. Put this into the test:\n\n%s\n", where, t.Style(bold, Clean(f.Text)), Duration(f.After),
			indent(f.Block, "  "))
	case flowtest.BadReply:
		fmt.Fprintf(&b, "%s: this reply cannot be computed: %s\n", where, Clean(f.Text))
	case flowtest.Differs:
		fmt.Fprintf(&b, "%s: %s\n", where, Clean(f.Text))
	case flowtest.Unheard:
		fmt.Fprintf(&b, "%s: after %s nothing received  %s:\n  %s\n", where, Duration(f.After), t.Style(bold, Clean(f.Text)), Clean(f.Message))
	case flowtest.Broken:
		fmt.Fprintf(&b, "%s: after %s %s\n", where, Duration(f.After), Clean(f.Text))
	}
	return b.String()
}

// maxValueShown bounds a value in the report of a test, in bytes.
const maxValueShown = 400

// shortValue is a value as JSON, cut where it is long.
func shortValue(v value.Value) string {
	text := string(value.Append(nil, v))
	if len(text) <= maxValueShown {
		return text
	}
	return cutBytes(text, maxValueShown)
}

func leftoverText(l *flowtest.Leftover) string {
	where := Clean(fmt.Sprintf("%s:%d:%d", l.At.File, l.At.Line, l.At.Column))
	if l.Asked == 0 {
		return fmt.Sprintf("%s: the stub of %s %q was never used", where, l.Kind, Clean(l.Name))
	}
	return fmt.Sprintf("%s: the stub of %s %q has %s, and was asked %s", where, l.Kind, Clean(l.Name), plural(l.Replies, "reply", "replies"), times(l.Asked))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// timelineText is one line of a virtual timeline.
func timelineText(t *Term, l *flowtest.Line) string {
	who, what, why := l.Node, string(l.Status), l.Text
	if who == "" {
		who = "run"
	}
	switch {
	case l.Gate != nil:
		what = "gate " + l.Gate.Gate + " passed"
		if !l.Gate.Passed {
			what, why = "gate "+l.Gate.Gate+" did not pass", l.Gate.Message
		}
	case l.Type == view.Resumed:
		what = "another driver"
	case l.Type == view.CancelAsked, l.Type == view.NodeCancelAsked:
		what = "cancel"
	}
	if l.Attempt > 1 {
		what += fmt.Sprintf(" (attempt %d)", l.Attempt)
	}
	text := fmt.Sprintf("%9s  %-24s %s", "+"+Duration(l.After), Clean(who), what)
	if why != "" {
		text += ": " + Clean(strings.ReplaceAll(strings.TrimRight(why, "\n"), "\n", " | "))
	}
	if l.Status.Bad() || l.Gate != nil && !l.Gate.Passed {
		return t.Style(red, text)
	}
	return text
}

// The document of a report.
type (
	testsJSON struct {
		FormatVersion string      `json:"format_version"`
		Tests         int         `json:"tests"`
		Failed        int         `json:"failed"`
		TookMS        int64       `json:"took_ms"`
		Results       []testJSON  `json:"results"`
		Coverage      []coverJSON `json:"coverage"`
	}
	coverJSON struct {
		Program string      `json:"program"`
		Points  int         `json:"points"`
		Reached int         `json:"reached"`
		Lines   []pointJSON `json:"lines"`
	}
	pointJSON struct {
		File     string             `json:"file"`
		Line     int                `json:"line"`
		Workflow string             `json:"workflow"`
		Kind     flowtest.PointKind `json:"kind"`
		Name     string             `json:"name"`
		Hits     int                `json:"hits"` // tests that reached it
	}
	testJSON struct {
		File     string         `json:"file"`
		Line     int            `json:"line"`
		Name     string         `json:"name"`
		Workflow string         `json:"workflow"`
		Passed   bool           `json:"passed"`
		Status   event.Status   `json:"status"`
		Runs     []runJSON      `json:"runs,omitempty"` // of a test with several
		Elapsed  float64        `json:"elapsed"`        // seconds, virtual
		Events   uint64         `json:"events"`
		Crashes  int            `json:"crashes"`
		Failures []failureJSON  `json:"failures"`
		Leftover []leftoverJSON `json:"leftover"`
		Path     []string       `json:"path"`
		Timeline []lineJSON     `json:"timeline,omitempty"` // of a test that failed
	}
	runJSON struct {
		Label    string       `json:"label"`
		Workflow string       `json:"workflow"`
		Status   event.Status `json:"status"`
		Started  *float64     `json:"started"` // seconds, virtual; null: it has not begun
		Ended    *float64     `json:"ended"`
	}
	failureJSON struct {
		Kind    flowtest.FailureKind `json:"kind"`
		File    string               `json:"file"`
		Line    int                  `json:"line"`
		Column  int                  `json:"column"`
		Text    string               `json:"text"`
		Unmet   []string             `json:"unmet,omitempty"`
		Values  map[string]any       `json:"values,omitempty"`
		Message string               `json:"message,omitempty"`
		After   float64              `json:"after"`
		Block   string               `json:"block,omitempty"`
	}
	leftoverJSON struct {
		Kind    ir.StubKind `json:"kind"`
		Name    string      `json:"name"`
		Line    int         `json:"line"`
		Asked   int         `json:"asked"`
		Replies int         `json:"replies"`
	}
	lineJSON struct {
		After   float64      `json:"after"`
		Node    string       `json:"node"`
		Status  event.Status `json:"status"`
		Attempt int          `json:"attempt,omitempty"`
		Type    string       `json:"type"`
		Text    string       `json:"text,omitempty"`
	}
)

// secondsOrNull is a time since the start of a test; null where it has not come.
func secondsOrNull(d time.Duration) *float64 {
	if d < 0 {
		return nil
	}
	s := d.Seconds()
	return &s
}

func (r *TestReport) document() testsJSON {
	out := testsJSON{FormatVersion: "1.0", Tests: r.Tests(), Failed: r.Failed(), TookMS: r.Took.Milliseconds(), Results: []testJSON{}, Coverage: []coverJSON{}}
	for i := range r.Coverage {
		c := &r.Coverage[i]
		doc := coverJSON{Program: c.Program, Points: len(c.Points), Reached: len(c.Points) - len(c.Missed()), Lines: []pointJSON{}}
		for i, p := range c.Points {
			at := c.Line(p)
			doc.Lines = append(doc.Lines, pointJSON{at.File, at.Start.Line, p.Workflow, p.Kind, p.Name, c.Hits[i]})
		}
		out.Coverage = append(out.Coverage, doc)
	}
	for _, f := range r.Files {
		for _, t := range f.Results {
			doc := testJSON{File: f.Name, Line: t.Test.At.Line, Name: t.Test.Name, Workflow: t.Test.Workflow, Passed: t.Passed(), Status: t.Status,
				Elapsed: t.Elapsed.Seconds(), Events: t.Events, Crashes: t.Crashes, Failures: []failureJSON{}, Leftover: []leftoverJSON{}, Path: append([]string{}, t.Path...)}
			for _, x := range t.Runs {
				doc.Runs = append(doc.Runs, runJSON{x.Label, x.Workflow, x.Status, secondsOrNull(x.Started), secondsOrNull(x.Ended)})
			}
			for _, x := range t.Failures {
				values := map[string]any{}
				for _, v := range x.Values {
					values[v.Name] = v.Value
				}
				doc.Failures = append(doc.Failures, failureJSON{x.Kind, x.At.File, x.At.Line, x.At.Column, x.Text, x.Unmet, values, x.Message, x.After.Seconds(), x.Block})
			}
			for _, l := range t.Leftover {
				doc.Leftover = append(doc.Leftover, leftoverJSON{l.Kind, l.Name, l.At.Line, l.Asked, l.Replies})
			}
			if !t.Passed() {
				for _, l := range t.Timeline {
					doc.Timeline = append(doc.Timeline, lineJSON{l.After.Seconds(), l.Node, l.Status, l.Attempt, l.Type, l.Text})
				}
			}
			out.Results = append(out.Results, doc)
		}
	}
	return out
}

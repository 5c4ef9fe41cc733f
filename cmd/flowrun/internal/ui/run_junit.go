package ui

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// Bounds of a report on a run.
const (
	MaxCaseOut   = 4 << 10 // bytes of each stream that a test case shows: its end
	MaxReportOut = 8 << 20 // bytes of streams in a whole report; cases after that have none
)

// RunJUnit writes a run as a JUnit report: a suite, with a case for each node that does something itself. What never ran is skipped, with the reason; so is a failure that the file tolerates.
func RunJUnit(w io.Writer, r *view.Run, scene Scene, now event.Time) error {
	s := junitSuite{Name: Clean(r.Workflow), ID: Clean(r.ID), Time: inSeconds(r.Duration(now)), At: r.StartedAt.String()}
	left := MaxReportOut
	r.Each(func(n *view.Node, _ int) {
		if acted(n) {
			s.add(caseOf(r, n, scene, now, &left))
		}
	})
	return writeJUnit(w, s.Time, s)
}

// acted tells whether a node is told of by itself: nothing lies below it, or it failed of something else than what does.
func acted(n *view.Node) bool {
	return len(n.Children) == 0 || n.Status == event.FailedS && n.Result != nil && n.Result.Error != nil && n.Result.Error.Reason != event.ReasonChild
}

func caseOf(r *view.Run, n *view.Node, scene Scene, now event.Time, left *int) junitCase {
	c := junitCase{Name: Clean(n.Title()), Class: Clean(r.Workflow), Time: inSeconds(n.Duration(now))}
	if scene.Where != nil {
		c.File, _, _ = strings.Cut(Clean(scene.Where(n.Name)), ":")
	}
	said := Clean(gist(why(n.Status, n.Reason, n.Result)))
	switch tolerated := n.Result != nil && n.Result.Tolerated; {
	case n.Status == event.FailedS && !tolerated:
		c.Failure = &junitFailure{Message: xmlChars(said), Type: "failed", Text: xmlText([]string{said})}
		if n.Result != nil && n.Result.Error != nil {
			c.Failure.Type = Clean(string(n.Result.Error.Kind) + "/" + string(n.Result.Error.Reason))
			c.Failure.Text = xmlText([]string{said, excerpt(lastLines(n.Result.Shown().Stderr, StderrLines))})
		}
	case n.Status != event.Succeeded:
		c.Skipped = &junitSkipped{xmlChars(string(n.Status) + ": " + said)}
	}
	if n.Result != nil {
		res := n.Result.Shown()
		c.Out, c.Err = stream(res.Stdout, left), stream(res.Stderr, left)
	}
	return c
}

// stream is the end of what was written, or nil.
func stream(text string, left *int) *junitText {
	cut := text[max(0, len(text)-MaxCaseOut):]
	if text == "" || len(cut) > *left {
		return nil
	}
	*left -= len(cut)
	if len(cut) < len(text) {
		cut = "[the end]\n" + strings.ToValidUTF8(cut, "")
	}
	return &junitText{xmlText([]string{CleanLines(cut)})}
}

func xmlChars(s string) string { return strings.TrimPrefix(xmlText([]string{s}), "\n") }

func inSeconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }

// ReportForms are the forms of a report on a run.
var ReportForms = []string{"junit"}

// RunReport writes a run in one of [ReportForms].
func RunReport(w io.Writer, form string, r *view.Run, scene Scene, now event.Time) error {
	if form == "junit" {
		return RunJUnit(w, r, scene, now)
	}
	return fmt.Errorf("no form of a report on a run is called %q", form)
}

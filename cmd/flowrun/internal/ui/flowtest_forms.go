package ui

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/flowrun/flowrun/runner/flowtest"
)

// colourless is what f writes to a terminal without colour.
func colourless(f func(*Term)) string {
	var b bytes.Buffer
	f(NewTerm(&b, "never", func(string) string { return "" }))
	return b.String()
}

// junit writes the report as JUnit: a suite for each file.
func (r *TestReport) junit(w io.Writer) error {
	var suites []junitSuite
	for _, f := range r.Files {
		s := junitSuite{Name: f.Name}
		for _, t := range f.Results {
			c := junitCase{Name: Clean(t.Test.Name), Class: f.Name, File: f.Name, Line: t.Test.At.Line}
			if !t.Passed() {
				c.Failure = &junitFailure{Message: summaryOf(t), Type: string(t.Failures[0].Kind), Text: colourless(func(p *Term) { testText(p, t) })}
			}
			s.add(c)
		}
		suites = append(suites, s)
	}
	return writeJUnit(w, inSeconds(r.Took), suites...)
}

// summaryOf is why a test failed, in a line.
func summaryOf(t *flowtest.Result) string {
	f := &t.Failures[0]
	text := map[flowtest.FailureKind]string{flowtest.Unmet: "this does not hold: ", flowtest.Unasked: "this was not reached: ", flowtest.NoStub: "no stub answers ",
		flowtest.Unheard: "nothing received ", flowtest.BadReply: "a reply cannot be computed: ", flowtest.Broken: "", flowtest.Differs: ""}[f.Kind] + f.Text
	if n := len(t.Failures) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return Clean(text)
}

// github writes a workflow command for each failure, and the number of tests.
func (r *TestReport) github(w io.Writer) error {
	var b strings.Builder
	shown := 0
	for _, f := range r.Files {
		for _, t := range f.Results {
			for i := range t.Failures {
				x := &t.Failures[i]
				text := strings.TrimRight(colourless(func(p *Term) { p.Printf("%s", failureText(p, x, t.Elapsed)) }), "\n")
				if shown++; shown > MaxAnnotations {
					fmt.Fprintf(&b, "%s\n", plainLog(Clean(t.Test.Name)+": "+strings.ReplaceAll(text, "\n", " ")))
					continue
				}
				path, _ := r.Base(x.At.File)
				fmt.Fprintf(&b, "::error file=%s,line=%d,col=%d,title=%s::%s\n", property(Clean(path)), x.At.Line, x.At.Column,
					property(cutBytes(Clean(t.Test.Name), MaxTitleBytes)), message(cutBytes(text, MaxAnnotationBytes)))
			}
		}
	}
	fmt.Fprintf(&b, "%s: %d failed, %d passed\n", Count(r.Tests(), "test"), r.Failed(), r.Tests()-r.Failed())
	_, err := io.WriteString(w, b.String())
	return err
}

// MaxMissed bounds how many points that no test reached the screen names of a program.
const MaxMissed = 30

// coverageText writes which points no test reached.
func (r *TestReport) coverageText(t *Term) {
	for i := range r.Coverage {
		c := &r.Coverage[i]
		missed := c.Missed()
		t.Printf("\ncoverage of %s: %d of %s reached\n", Clean(c.Program), len(c.Points)-len(missed), Count(len(c.Points), "point"))
		for i, p := range missed {
			if i == MaxMissed {
				t.Printf("  and %d more\n", len(missed)-i)
				break
			}
			where := c.Where(p)
			if where != "" {
				where += ": "
			}
			t.Printf("  %sno test reaches %s\n", Clean(where), Clean(pointText(p)))
		}
	}
}

func pointText(p flowtest.Point) string {
	switch p.Kind {
	case flowtest.GatePoint:
		return fmt.Sprintf("gate %s of workflow %s", p.Name, p.Workflow)
	case flowtest.CasePoint:
		node, n, _ := strings.Cut(p.Name, "/")
		return fmt.Sprintf("case %s of switch %s of workflow %s", n, node, p.Workflow)
	case flowtest.LevelPoint:
		node, level, _ := strings.Cut(p.Name, "/")
		return fmt.Sprintf("level %s of node %s of workflow %s", level, node, p.Workflow)
	case flowtest.SourcePoint, flowtest.AgentPoint:
		return fmt.Sprintf("%s %s of loop %s", p.Kind, p.Name, p.Workflow)
	case flowtest.NodePoint:
	}
	return fmt.Sprintf("node %s of workflow %s", p.Name, p.Workflow)
}

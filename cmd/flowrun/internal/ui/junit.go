package ui

import (
	"encoding/xml"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
)

// The elements of a JUnit report that Jenkins, GitLab and GitHub's test reporters agree on.
type (
	junitSuites struct {
		XMLName  xml.Name   `xml:"testsuites"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Suite    junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		File    string        `xml:"file,attr"`
		Failure *junitFailure `xml:"failure"`
		Out     *junitText    `xml:"system-out"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",cdata"`
	}
	junitText struct {
		Text string `xml:",cdata"`
	}
)

// junit writes a test case for each file: errors in it are its one failure, all else is its output.
func (r *Report) junit(w io.Writer) error {
	of := map[string]diag.List{}
	for f := range r.Sources {
		of[f] = nil
	}
	for _, d := range r.List {
		of[d.Subject.File] = append(of[d.Subject.File], d)
	}
	files := make([]string, 0, len(of))
	for f := range of {
		files = append(files, f)
	}
	sort.Strings(files)
	suite := junitSuite{Name: "flowrun validate", Tests: len(files)}
	for _, f := range files {
		c := r.testcase(f, of[f])
		if c.Failure != nil {
			suite.Failures++
		}
		suite.Cases = append(suite.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(junitSuites{Tests: suite.Tests, Failures: suite.Failures, Suite: suite}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (r *Report) testcase(file string, found diag.List) junitCase {
	path, _ := r.Base(file)
	c := junitCase{Name: Clean(path), Class: "flowrun.validate", File: Clean(path)}
	var wrong, mild []string
	var first *diag.Diagnostic
	t := NewTerm(io.Discard, "never", func(string) string { return "" })
	for i := range found {
		text := diagnostic(t, &found[i], r.Sources)
		if found[i].Severity != diag.Error {
			mild = append(mild, text)
			continue
		}
		if wrong = append(wrong, text); first == nil {
			first = &found[i]
		}
	}
	if first != nil {
		c.Failure = &junitFailure{Message: Clean(first.Summary), Type: first.Code, Text: xmlText(wrong)}
		if n := len(wrong) - 1; n > 0 {
			c.Failure.Message += fmt.Sprintf(", and %s more", Count(n, "error"))
		}
	}
	if len(mild) > 0 {
		c.Out = &junitText{xmlText(mild)}
	}
	return c
}

// xmlText joins texts that are clean for a terminal; XML forbids two characters more.
func xmlText(parts []string) string {
	return "\n" + strings.NewReplacer("\ufffe", "\ufffd", "\uffff", "\ufffd").Replace(strings.Join(parts, "\n"))
}

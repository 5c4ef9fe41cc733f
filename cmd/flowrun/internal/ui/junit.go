package ui

import (
	"encoding/xml"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
)

// The elements of JUnit that Jenkins, GitLab and GitHub's test reporters agree on. Each report uses some of the attributes.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Time     string       `xml:"time,attr,omitempty"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		ID       string      `xml:"id,attr,omitempty"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     string      `xml:"time,attr,omitempty"`
		At       string      `xml:"timestamp,attr,omitempty"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		File    string        `xml:"file,attr,omitempty"`
		Line    int           `xml:"line,attr,omitempty"`
		Time    string        `xml:"time,attr,omitempty"`
		Failure *junitFailure `xml:"failure"`
		Skipped *junitSkipped `xml:"skipped"`
		Out     *junitText    `xml:"system-out"`
		Err     *junitText    `xml:"system-err"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",cdata"`
	}
	junitSkipped struct {
		Message string `xml:"message,attr"`
	}
	junitText struct {
		Text string `xml:",cdata"`
	}
)

// add adds a case to a suite, and counts it.
func (s *junitSuite) add(c junitCase) {
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

// writeJUnit writes suites as a report; took is how long all took, or "".
func writeJUnit(w io.Writer, took string, suites ...junitSuite) error {
	all := junitSuites{Time: took, Suites: suites}
	for i := range suites {
		all.Tests, all.Failures = all.Tests+suites[i].Tests, all.Failures+suites[i].Failures
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

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
	suite := junitSuite{Name: "flowrun validate"}
	for _, f := range files {
		suite.add(r.testcase(f, of[f]))
	}
	return writeJUnit(w, "", suite)
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

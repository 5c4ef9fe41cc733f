package ui

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/flowrun/flowrun/dsl/diag"
)

// nasty is a file whose name, text and findings hold all that some form must escape.
const (
	nasty    = "a b/ü,50%:[x](1)<&\">.hcl"
	nastySrc = "workflow \"w\" {\n  step \"𝒜é\" { run = \"🚀\" }\n}\n"
)

func nastyReport() *Report {
	sources := Sources{nasty: []byte(nastySrc), "ship.hcl": []byte(ship), "fine.hcl": nil}
	range2 := at(nasty, nastySrc, `"𝒜é"`)
	range2.End = at(nasty, nastySrc, "}").End
	list := diag.List{
		{Code: "F0302", Summary: "Unknown 100%, {0} and [a](b)\r\n::error::x", Detail: "Line one, <b>|\n::warning::Line two ##[error]", Subject: at(nasty, nastySrc, `"🚀"`), Context: "step",
			Notes: []diag.Note{{Text: "declared | here", Range: at("ship.hcl", ship, `"build"`)}, {Text: "no place"}},
			Edit:  &diag.Edit{Range: at(nasty, nastySrc, "🚀"), Text: "true"}},
		{Severity: diag.Warning, Code: "F0999", Summary: "Several lines", Subject: range2},
		{Severity: diag.Advice, Code: "F0999", Summary: "A hint", Subject: at("ship.hcl", ship, "biuld")},
		{Code: "F0050", Summary: "Cannot read ../x", Subject: diag.Range{File: "../x"}},
	}
	return &Report{List: list.Sort(), Sources: sources, Checked: Checked(3, 4, nil), Release: "1.2.3",
		Base: func(f string) (string, bool) { return "sub/" + f, !strings.HasPrefix(f, "..") },
		Rule: func(c string) Rule {
			if c == "F0999" {
				return Rule{}
			}
			return Rule{"A name is not declared.", "Declare it.", "https://example.com/" + c}
		}}
}

func written(t *testing.T, r *Report, format string) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Each form of one report with hard names, as its reader gets it.
func TestForms(t *testing.T) {
	r := nastyReport()
	for _, format := range Formats {
		if format == "sarif" {
			continue // its fingerprint of a file outside has a path of this machine: TestSarif
		}
		golden(t, "report_"+format, written(t, r, format))
	}
	golden(t, "report_summary", r.Summary(MaxSummaryBytes))
}

// A command of a workflow is one line, and nothing that a file holds makes another.
func TestAnnotationsAreOneLine(t *testing.T) {
	out := written(t, nastyReport(), "github")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != 5 {
		t.Fatalf("4 annotations and a verdict are %d lines:\n%s", len(lines), out)
	}
	for _, l := range lines[:4] {
		if n := strings.Count(l, "::"); !strings.HasPrefix(l, "::") || n < 2 || strings.Contains(strings.SplitN(l, "::", 3)[1], "%:") {
			t.Errorf("%q", l)
		}
		for _, p := range strings.Split(strings.SplitN(strings.SplitN(l, "::", 3)[1], " ", 2)[1], ",") {
			if name, text, ok := strings.Cut(p, "="); !ok || strings.Contains(name, " ") || strings.ContainsAny(text, ":\r\n") {
				t.Errorf("property %q in %q", p, l)
			}
		}
	}
}

func many(n int, s diag.Severity) *Report {
	r := nastyReport()
	r.List = nil
	for i := range n {
		d := diag.Diagnostic{Severity: s, Code: "F0302", Summary: fmt.Sprintf("##[error] %d", i), Subject: at("ship.hcl", ship, "biuld")}
		d.Subject.Start.Line += i
		r.List = append(r.List, d)
	}
	return r
}

// The runner keeps ten annotations of each severity: the eleventh is a line of the log that is not a command.
func TestAnnotationsAreBounded(t *testing.T) {
	for _, c := range []struct{ n, commands, plain int }{{MaxAnnotations, MaxAnnotations, 0}, {MaxAnnotations + 1, MaxAnnotations, 1}} {
		out := written(t, many(c.n, diag.Error), "github")
		if n := strings.Count(out, "\n::error ") + 1; n != c.commands {
			t.Errorf("%d findings make %d annotations", c.n, n)
		}
		if n := strings.Count(out, "\nship.hcl:"); n != c.plain || strings.Contains(strings.ReplaceAll(out, "::ship.hcl", ""), "\n##[") {
			t.Errorf("%d findings make %d plain lines:\n%s", c.n, n, out)
		}
	}
	if plainLog("##[error]x") != "# #[error]x" || plainLog(" ::error::x") != `\ ::error::x` {
		t.Error("a line of the log is a command")
	}
	r := many(1, diag.Error)
	r.List[0].Summary, r.List[0].Detail = strings.Repeat("ü", 300), strings.Repeat("日", 3000)
	title := strings.SplitN(strings.SplitN(written(t, r, "github"), "title=", 2)[1], "::", 2)
	if len(title[0]) > MaxTitleBytes || len(strings.TrimSpace(title[1])) > MaxAnnotationBytes+100 {
		t.Errorf("a title of %d bytes, a message of %d", len(title[0]), len(title[1]))
	}
}

// A summary never exceeds what is left of the step's.
func TestSummaryIsBounded(t *testing.T) {
	r := many(1000, diag.Warning)
	whole := r.Summary(MaxSummaryBytes)
	if strings.Count(whole, "\n| warning") != 1000 {
		t.Error("rows are missing where there is room")
	}
	for _, most := range []int{len(whole) + summaryTail, len(whole) - 1, 5000, 300, 0, -1} {
		s := r.Summary(most)
		if len(s) > max(most, 0) {
			t.Errorf("%d bytes where %d were left", len(s), most)
		}
		if cut := most < len(whole) && most > 300; cut && !strings.HasSuffix(s, " more.\n") {
			t.Errorf("with %d bytes the end is %q", most, s[max(0, len(s)-60):])
		}
	}
}

func sarifSchemaOf(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func instance(t *testing.T, text string) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// What is written conforms to the schema of OASIS, and the check can tell.
func TestSarif(t *testing.T) {
	schema := sarifSchemaOf(t)
	out := written(t, nastyReport(), "sarif")
	for _, r := range []*Report{nastyReport(), many(0, 0), many(50, diag.Advice)} {
		if err := schema.Validate(instance(t, written(t, r, "sarif"))); err != nil {
			t.Error(err)
		}
	}
	for _, c := range [][2]string{
		{`"level": "warning"`, `"level": "bogus"`}, {`"columnKind": "utf16CodeUnits"`, `"columnKind": "bytes"`},
		{`"startLine": 2`, `"startLine": 0`}, {`"version": "2.1.0"`, `"version": "2.2.0"`}, {`"ruleId"`, `"rule"`},
	} {
		broken := strings.Replace(out, c[0], c[1], 1)
		if broken == out || schema.Validate(instance(t, broken)) == nil {
			t.Errorf("%s passes the schema", c[1])
		}
	}
}

// Places in SARIF: columns in UTF-16 units, paths escaped and relative to the repository where they lie in it.
func TestSarifPlaces(t *testing.T) {
	var log struct{ Runs []sarifRun }
	if err := json.Unmarshal([]byte(written(t, nastyReport(), "sarif")), &log); err != nil {
		t.Fatal(err)
	}
	of := map[string]sarifResult{}
	for _, r := range log.Runs[0].Results {
		of[r.Level+r.RuleID] = r
	}
	p := of["errorF0302"].Locations[0].Physical
	if p.Artifact != (sarifArtifact{"sub/a%20b/%C3%BC,50%25:%5Bx%5D%281%29%3C&%22%3E.hcl", "SRCROOT"}) {
		t.Errorf("the file is %+v", p.Artifact)
	}
	// 20 characters stand before it, one of them of two units; it has 3, one of them of two units.
	if *p.Region != (sarifRegion{2, 22, 2, 26}) {
		t.Errorf("the place is %+v", *p.Region)
	}
	fix := of["errorF0302"].Fixes[0].Changes[0].Replacements[0]
	if fix.Deleted != (sarifRegion{2, 23, 2, 25}) || fix.Inserted.Text != "true" {
		t.Errorf("the edit is %+v", fix)
	}
	if m := of["errorF0302"].Message.Text; !strings.HasPrefix(m, `Unknown 100%, {{0}} and \[a\](b)`) {
		t.Errorf("the message is %q", m)
	}
	if a := of["errorF0050"].Locations[0].Physical; a.Artifact.BaseID != "" || !strings.HasPrefix(a.Artifact.URI, "file:///") || a.Region != nil {
		t.Errorf("a file outside is %+v", a)
	}
	if n := of["errorF0302"].Related; len(n) != 1 || n[0].Physical.Region.StartLine != 3 || n[0].Message.Text != "declared | here" {
		t.Errorf("the notes are %+v", n)
	}
}

// A finding keeps its fingerprint when lines move, and two alike have two.
func TestFingerprints(t *testing.T) {
	prints := func(src string) (out []string) {
		r := nastyReport()
		r.Sources = Sources{"a.hcl": []byte(src)}
		r.List = nil
		for rest, off := src, 0; strings.Contains(rest, "bad"); {
			i := strings.Index(rest, "bad")
			d := diag.Diagnostic{Code: "F0302", Subject: at("a.hcl", src, "bad")}
			d.Subject.Start.Byte = off + i
			r.List = append(r.List, d)
			rest, off = rest[i+3:], off+i+3
		}
		var log struct{ Runs []sarifRun }
		if err := json.Unmarshal([]byte(written(t, r, "sarif")), &log); err != nil {
			t.Fatal(err)
		}
		for _, x := range log.Runs[0].Results {
			out = append(out, x.Prints["finding/v1"])
		}
		return out
	}
	one, moved := prints("x = bad\nx = bad\n"), prints("\n\n  x = bad\nx = bad\n")
	if len(one) != 2 || one[0] == one[1] || one[0] != moved[0] || one[1] != moved[1] {
		t.Errorf("%v, and moved %v", one, moved)
	}
	if other := prints("y = bad\n"); other[0] == one[0] {
		t.Error("another line has the same fingerprint")
	}
}

// The XML can be read back, and holds what was there.
func TestJunit(t *testing.T) {
	var s junitSuites
	if err := xml.Unmarshal([]byte(written(t, nastyReport(), "junit")), &s); err != nil {
		t.Fatal(err)
	}
	if s.Tests != 4 || s.Failures != 2 || len(s.Suites[0].Cases) != 4 {
		t.Fatalf("%+v", s)
	}
	for _, c := range s.Suites[0].Cases {
		if bad := c.Name == "sub/"+nasty || c.Name == "sub/../x"; bad != (c.Failure != nil) {
			t.Errorf("%+v", c)
		}
	}
}

func TestChecked(t *testing.T) {
	found := diag.List{{Severity: diag.Warning}, {Severity: diag.Advice}, {Severity: diag.Warning}}
	if have := Checked(1, 2, found); have != "1 program with 2 nodes: no errors, 2 warnings, 1 piece of advice" {
		t.Error(have)
	}
}

func TestColumns(t *testing.T) {
	src := []byte("x\na𝒜é=\n")
	p := diag.Pos{Line: 2, Column: 9, Byte: 2 + 1 + 4 + 2}
	if a, b := column(src, p, codePoints), column(src, p, utf16Units); a != 4 || b != 5 {
		t.Errorf("%d and %d", a, b)
	}
	if n := column(nil, p, codePoints); n != 9 {
		t.Errorf("without a source %d", n)
	}
}

// A page of the reference on a terminal.
func TestMarkdown(t *testing.T) {
	var b bytes.Buffer
	Markdown(NewTerm(&b, "never", none), "# Head `x`\n\n**What:** is `this`.\n\n| a | |\n|---|---|\n| `long one` | x \\| y |\n| b |  |\n\n```hcl\na = `1`\n\n# no head\n```\n")
	want := "Head `x`\n\nWhat: is this.\n\na\nlong one  x | y\nb\n\n    a = `1`\n\n    # no head\n"
	if have := b.String(); have != want {
		t.Errorf("have\n%q\nwant\n%q", have, want)
	}
}

// What is wrong with a file as a whole names the file, in every form.
func TestAFileIsNamed(t *testing.T) {
	list := diag.List{{Code: "F0001", Summary: "File of more than 64 MiB is too large", Detail: "Divide it.", Subject: diag.Range{File: "flows/big.hcl"}}}
	r := &Report{List: list, Base: func(f string) (string, bool) { return f, true }, Rule: func(string) Rule { return Rule{} }}
	for _, format := range Formats {
		if have := written(t, r, format); !strings.Contains(have, "flows/big.hcl") {
			t.Errorf("%s does not name a file:\n%s", format, have)
		}
	}
}

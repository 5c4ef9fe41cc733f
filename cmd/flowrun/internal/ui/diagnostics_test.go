package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/diag"
)

func none(string) string { return "" }

// at finds a piece of a source and gives its range.
func at(file, src, piece string) diag.Range {
	i := strings.Index(src, piece)
	if i < 0 {
		panic("no " + piece)
	}
	pos := func(i int) diag.Pos {
		line := strings.LastIndex(src[:i], "\n") + 1
		return diag.Pos{Line: strings.Count(src[:i], "\n") + 1, Column: len([]rune(src[line:i])) + 1, Byte: i}
	}
	return diag.Range{File: file, Start: pos(i), End: pos(i + len(piece))}
}

func render(list diag.List, sources Sources) string {
	var b bytes.Buffer
	Diagnostics(NewTerm(&b, "auto", none), list, sources)
	return b.String()
}

const ship = "workflow \"release\" {\n\n  step \"build\" {\n    run = [\"make\"]\n  }\n  step \"ship\" {\n  when = \"step.biuld.output.coverage >= 80\"\n  }\n}\n"

func TestTheShape(t *testing.T) {
	d := diag.Diagnostic{Code: "F0201", Summary: `Unknown step "biuld"`, Subject: at("ship.hcl", ship, "biuld"), Context: `step "ship"`,
		Detail: `Workflow "release" has no node of this name. Did you mean "build" (ship.hcl:3)?`,
		Notes:  []diag.Note{{Text: "declared here", Range: at("ship.hcl", ship, `"build"`)}}}
	want := `Error: Unknown step "biuld" (F0201)

  ship.hcl:7:16, in step "ship":
  7:   when = "step.biuld.output.coverage >= 80"
                    ^^^^^
Workflow "release" has no node of this name. Did you mean "build" (ship.hcl:3)?

  ship.hcl:3:8, declared here:
  3:   step "build" {
            ^^^^^^^
`
	if have := render(diag.List{d}, Sources{"ship.hcl": []byte(ship)}); have != want {
		t.Errorf("have\n%s\nwant\n%s", have, want)
	}
}

// The carets stand under the subject, whatever stands before it.
func TestCarets(t *testing.T) {
	for _, c := range []struct{ name, src, piece, line, carets string }{
		{"tab", "\t\tname = x", "x", "  1:         name = x", "                    ^"},
		{"wide", `a = "日本" + bad`, "bad", `  1: a = "日本" + bad`, "                  ^^^"},
		{"wide subject", `a = 日本`, "日本", `  1: a = 日本`, "         ^^^^"},
		{"combining", "a = \"e\u0301\" + bad", "bad", "  1: a = \"e\u0301\" + bad", "               ^^^"},
		{"control", "a = \x1b[2J + bad", "bad", `  1: a = \x1b[2J + bad`, "                   ^^^"},
		{"crlf", "a = bad\r\nb", "bad", `  1: a = bad`, "         ^^^"},
		{"two lines", "a = {\n  b\n}", "{\n  b\n}", `  1: a = {`, "         ^"},
		{"end of file", "a = ", "", `  1: a =`, "     ^"},
	} {
		r := at("f.hcl", c.src, c.piece)
		lines := strings.Split(render(diag.List{{Summary: "s", Subject: r}}, Sources{"f.hcl": []byte(c.src)}), "\n")
		if lines[3] != c.line || lines[4] != c.carets {
			t.Errorf("%s:\nhave\n%s\n%s\nwant\n%s\n%s", c.name, lines[3], lines[4], c.line, c.carets)
		}
	}
}

// A line of any length is cut around the carets, and they stay in sight.
func TestLongLines(t *testing.T) {
	for _, before := range []int{0, 50, 60, 61, 119, 120, 121, 500, 60000} {
		for _, after := range []int{0, 1, 1000} {
			src := strings.Repeat("x", before) + "BAD" + strings.Repeat("y", after)
			lines := strings.Split(render(diag.List{{Summary: "s", Subject: at("f", src, "BAD")}}, Sources{"f": []byte(src)}), "\n")
			if n := Cells(lines[3]); n > SnippetCells+len("  1: ")+1 {
				t.Errorf("%d/%d: %d cells", before, after, n)
			}
			col := strings.Index(lines[4], "^^^")
			if col < 0 || string([]rune(lines[3])[col:col+3]) != "BAD" {
				t.Errorf("%d/%d:\n%s\n%s", before, after, lines[3], lines[4])
			}
		}
	}
}

func TestAtMostTwentyErrorsFirst(t *testing.T) {
	var list diag.List
	for i := range 30 {
		s := diag.Warning
		if i >= 25 {
			s = diag.Error
		}
		list = append(list, diag.Diagnostic{Severity: s, Summary: fmt.Sprintf("finding %02d", i), Subject: diag.Range{File: "f", Start: diag.Pos{Line: i + 1, Byte: i}}})
	}
	have := render(list, nil)
	if strings.Count(have, "finding") != MaxShown || !strings.HasSuffix(have, "… and 10 more.\n") || !strings.HasPrefix(have, "Error: finding 25\n") {
		t.Error(have)
	}
	if have = render(list[:MaxShown], nil); strings.Contains(have, "more") {
		t.Error(have)
	}
}

func TestNothingFromAFileReachesTheTerminal(t *testing.T) {
	evil := "a\x1b[31m\u202e\x07\u200b\xff"
	have := render(diag.List{{Summary: evil, Detail: evil, Context: evil, Subject: diag.Range{File: evil, Start: diag.Pos{Line: 1}, End: diag.Pos{Byte: 9}},
		Notes: []diag.Note{{Text: evil}}}}, Sources{evil: []byte(evil)})
	for _, r := range have {
		if r != '\n' && (hidden(r) || r == 0xfffd) {
			t.Fatalf("%q in %q", r, have)
		}
	}
}

func TestColour(t *testing.T) {
	for _, c := range []struct {
		flag, no, force string
		want            bool
	}{
		{"auto", "", "", false}, {"auto", "", "1", true}, {"auto", "", "0", false}, {"auto", "1", "1", false},
		{"always", "1", "", true}, {"never", "", "1", false},
	} {
		var b bytes.Buffer
		term := NewTerm(&b, c.flag, func(k string) string { return map[string]string{"NO_COLOR": c.no, "CLICOLOR_FORCE": c.force}[k] })
		Diagnostics(term, diag.List{{Summary: "s"}}, nil)
		if strings.Contains(b.String(), "\x1b[") != c.want {
			t.Errorf("%+v: %q", c, b.String())
		}
	}
}

func TestDiagnosticsJSON(t *testing.T) {
	var b bytes.Buffer
	d := diag.Diagnostic{Severity: diag.Warning, Code: "F0201", Summary: "<s>", Subject: at("ship.hcl", ship, "biuld"), Context: `step "ship"`}
	if err := DiagnosticsJSON(&b, diag.List{d}, Sources{"ship.hcl": []byte(ship)}); err != nil {
		t.Fatal(err)
	}
	want := `{"format_version":"1.0","valid":true,"error_count":0,"warning_count":1,"diagnostics":[{"severity":"warning","code":"F0201","summary":"<s>","detail":"",` +
		`"range":{"filename":"ship.hcl","start":{"line":7,"column":16,"byte":93},"end":{"line":7,"column":21,"byte":98}},` +
		`"snippet":{"context":"step \"ship\"","code":"  when = \"step.biuld.output.coverage >= 80\"","start_line":7,"highlight_start_offset":15,"highlight_end_offset":20,"values":[]}}]}` + "\n"
	if b.String() != want || !json.Valid(b.Bytes()) {
		t.Errorf("have %s\nwant %s", b.String(), want)
	}
	b.Reset()
	_ = DiagnosticsJSON(&b, nil, nil)
	if !strings.Contains(b.String(), `"valid":true`) || !strings.Contains(b.String(), `"diagnostics":[]`) {
		t.Error(b.String())
	}
}

package dsl

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/diag"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// Every file in testdata/diag has something wrong with it, and a golden that shows what is said about it. Wording and
// carets are reviewed there like code; no two files say the same.
func TestDiagnostics(t *testing.T) {
	paths, err := filepath.Glob("testdata/diag/*.hcl")
	if err != nil || len(paths) == 0 {
		t.Fatal("no cases", err)
	}
	codes, first := map[string]bool{}, map[string]string{}
	for _, path := range paths {
		name := filepath.Base(path)
		p, list := Check(os.DirFS("testdata/diag"), name, Options{Version: "0.1.0", LookPath: func(name string) bool { return name != "mkae" && name != "cd" && name != "ls -l *.go" }})
		if len(list) == 0 {
			t.Errorf("%s: nothing is wrong with it", name)
			continue
		}
		got := render(list, p.Sources)
		for _, d := range list {
			codes[d.Code] = true
			if d.Subject.File != name {
				t.Errorf("%s: %s names the file %q", name, d.Code, d.Subject.File)
			}
			if d.Summary == "" || d.Detail == "" || strings.HasSuffix(d.Summary, ".") || strings.Contains(strings.ToLower(d.Summary), "invalid") {
				t.Errorf("%s: %s is not worded as a finding: %q, %q", name, d.Code, d.Summary, d.Detail)
			}
		}
		if other := first[list[0].Summary]; other != "" {
			t.Errorf("%s and %s begin with the same summary: %s", other, name, list[0].Summary)
		}
		first[list[0].Summary] = name
		golden(t, strings.TrimSuffix(path, ".hcl")+".golden", got)
	}
	t.Logf("%d files, %d codes", len(paths), len(codes))
	if len(paths) < 150 || len(codes) < 60 {
		t.Errorf("%d files and %d codes; at least 150 and 60 are shown", len(paths), len(codes))
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (-rewrite writes it anew):\n%s", path, got)
	}
}

// render writes findings plainly: what, where, the line with its carets, why, and other places.
func render(list diag.List, sources map[string][]byte) string {
	var b strings.Builder
	for i, d := range list {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s: %s (%s)\n", d.Severity, d.Summary, d.Code)
		if d.Subject.Set() {
			fmt.Fprintf(&b, "  %s", d.Subject)
			if d.Context != "" {
				fmt.Fprintf(&b, ", in %s", d.Context)
			}
			b.WriteString(":\n" + picture(d.Subject, sources[d.Subject.File]))
		} else {
			fmt.Fprintf(&b, "  %s\n", d.Subject.File)
		}
		fmt.Fprintf(&b, "%s\n", d.Detail)
		for _, n := range d.Notes {
			fmt.Fprintf(&b, "  %s: %s\n", n.Range, n.Text)
		}
		if d.Edit != nil {
			fmt.Fprintf(&b, "  edit %s: %s\n", d.Edit.Range, d.Edit.Text)
		}
	}
	return b.String()
}

// picture is the line of a range with carets under it. Control characters are shown as a dot.
func picture(r diag.Range, src []byte) string {
	lines := bytes.Split(src, []byte("\n"))
	if r.Start.Line > len(lines) {
		return ""
	}
	line := strings.Map(func(c rune) rune {
		if c < ' ' && c != '\t' || c >= 0x7f && c < 0xa0 || c >= 0x2000 && c < 0x2070 || c == 0xfffd {
			return '.'
		}
		return c
	}, string(lines[r.Start.Line-1]))
	if len(line) > 120 {
		line = line[:120] + "…"
	}
	width := 1
	if r.End.Line == r.Start.Line {
		width = max(1, r.End.Column-r.Start.Column)
	}
	return fmt.Sprintf("  %3d:  %s\n        %s%s\n", r.Start.Line, line, strings.Repeat(" ", r.Start.Column-1), strings.Repeat("^", width))
}

package dsl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every file in testdata/flowtest is a test file with something wrong with it, beside one program, and a golden shows what is said about
// it. Wording and carets are reviewed there like code; no two files say the same.
func TestFlowtestDiagnostics(t *testing.T) {
	paths, err := filepath.Glob("testdata/flowtest/*" + TestSuffix)
	if err != nil || len(paths) < 25 {
		t.Fatal(len(paths), "cases:", err)
	}
	first := map[string]string{}
	for _, path := range paths {
		name := filepath.Base(path)
		tests, list := LoadTests(os.DirFS("testdata/flowtest"), name, Options{Version: "0.1.0"})
		if !list.HasErrors() {
			t.Errorf("%s: nothing is wrong with it", name)
			continue
		}
		for _, d := range list {
			if d.Subject.File != name || d.Subject.Start.Line == 0 {
				t.Errorf("%s: %s stands at %s", name, d.Code, d.Subject)
			}
			if d.Summary == "" || d.Detail == "" || strings.HasSuffix(d.Summary, ".") || strings.Contains(strings.ToLower(d.Summary), "invalid") {
				t.Errorf("%s: %s is not worded as a finding: %q, %q", name, d.Code, d.Summary, d.Detail)
			}
		}
		if other := first[list[0].Summary]; other != "" {
			t.Errorf("%s and %s begin with the same summary: %s", other, name, list[0].Summary)
		}
		first[list[0].Summary] = name
		golden(t, strings.TrimSuffix(path, TestSuffix)+".golden", render(list, tests.Sources))
	}
}

package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestManuals writes the manual pages, and looks for the commands, the flags and the escapes in them.
func TestManuals(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man")
	var said strings.Builder
	if code := Main([]string{"man", dir}, Streams{Stdin: strings.NewReader(""), Stdout: &said, Stderr: &said}); code != 0 {
		t.Fatalf("exit code %d: %s", code, &said)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "flowrun*.1"))
	if err != nil || len(pages) < 60 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for page, parts := range map[string][]string{
		"flowrun.1":           {".SH COMMANDS\n", ".BR flowrun\\-apply (1)\nRun a workflow and print its outputs\n", ".B \\-\\-store folder\n"},
		"flowrun-runs-show.1": {".TH FLOWRUN\\-RUNS\\-SHOW 1 ", ".SH OPTIONS OF ALL COMMANDS\n.TP\n"},
		"flowrun-decide.1":    {".SH SYNOPSIS\n.B flowrun decide RUN NODE WORD", ".RS\n.nf\nflowrun decide latest ok approve \\-\\-comment \"go ahead\"", ".fi\n.RE\n"},
	} {
		text, err := os.ReadFile(filepath.Join(dir, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range parts {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s does not have %q:\n%s", page, part, text)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "flowrun-man.1")); err == nil {
		t.Error("a hidden command has a page")
	}
	if got := manualText(`.a \ -b…`); got != `\&.a \e \-b\[u2026]` {
		t.Errorf("the text is %s", got)
	}
}

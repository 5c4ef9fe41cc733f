package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/workflows"
)

// libraryWords are words that apply needs for some templates, to be quick.
var libraryWords = map[string][]string{"pause": {"--input", "time=1s"}, "delayed-webhook": {"--input", "in=1s"}}

// libraryDecisions answer what some templates ask people.
var libraryDecisions = map[string][]string{"plan-implement-review-approve-ship": {"decide", "latest", "ok", "approve", "--resume"}}

// TestLibrary writes each template into a clean folder. It is valid and laid out, its tests pass, and it runs offline at once.
func TestLibrary(t *testing.T) {
	if testing.Short() {
		t.Skip("starts some 150 processes")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	flowrun := filepath.Join(t.TempDir(), "flowrun")
	if err := os.Symlink(self, flowrun); err != nil {
		t.Fatal(err)
	}
	for _, template := range workflows.All() {
		t.Run(template.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var out []byte
			run := func(words ...string) int {
				c := exec.Command(flowrun, words...)
				c.Dir, c.Env = dir, append(os.Environ(), "FLOWRUN_STORE=")
				out, _ = c.CombinedOutput()
				return c.ProcessState.ExitCode()
			}
			do := func(words ...string) {
				t.Helper()
				if code := run(words...); code != 0 {
					t.Fatalf("flowrun %q: exit code %d\n%s", words, code, out)
				}
			}
			do("init", "--template", template.Name)
			do("validate", "--fail-level", "warning")
			do("fmt", "--check")
			do("test")
			apply := append([]string{"apply", "."}, libraryWords[template.Name]...)
			if decision := libraryDecisions[template.Name]; decision != nil {
				if code := run(apply...); code != 4 {
					t.Errorf("flowrun %q: exit code %d, want 4: it waits for people", apply, code)
				}
				apply = decision
			}
			do(apply...)
		})
	}
}

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/workflows"
)

// libraryWords are words that apply needs for some templates, to be quick.
var libraryWords = map[string][]string{"pause": {"--input", "time=1s"}}

// libraryServices are the templates whose apply asks a service in the network, or agents without a stand-in.
var libraryServices = map[string]bool{"delayed-webhook": true, "rate-limited": true, "competition": true}

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
			do := func(words ...string) {
				t.Helper()
				c := exec.Command(flowrun, words...)
				c.Dir, c.Env = dir, append(os.Environ(), "FLOWRUN_STORE=")
				if out, err := c.CombinedOutput(); err != nil {
					t.Fatalf("flowrun %q: %v\n%s", words, err, out)
				}
			}
			do("init", "--template", template.Name)
			do("validate", "--fail-level", "warning")
			do("fmt", "--check")
			do("test")
			if !libraryServices[template.Name] {
				do(append([]string{"apply", "."}, libraryWords[template.Name]...)...)
			}
		})
	}
}

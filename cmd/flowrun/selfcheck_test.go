package main_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// smallRepo is a repository with all that the self-check looks at.
const smallRepo = `
-- go.mod --
module example.org/small

go 1.26
-- cmd/flowrun/main.go --
package main

import (
	"os"

	"example.org/small/dsl/sign"
)

func main() { os.Exit(sign.Of(0)) }
-- dsl/sign/sign.go --
// Package sign has a function with three branches.
package sign

// Of returns -1, 0 or 1.
func Of(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}
-- dsl/sign/sign_test.go --
package sign

import "testing"

func TestOf(t *testing.T) {
	if Of(5) != 1 || Of(0) != 0 {
		t.Error("a wrong sign")
	}
}
`

// failsOnce is a test that fails when it runs for the first time.
const failsOnce = `package sign

import (
	"os"
	"testing"
)

func TestOnce(t *testing.T) {
	t.Run("in \"part\"", func(t *testing.T) {
		if os.Mkdir("mark", 0o700) == nil {
			t.Error("the first time")
		}
	})
}
`

// TestSelfCheck runs the workflow of the README's first command in a small repository, then breaks the repository in several ways
// and looks whether it is noticed: a figure that does not come from the repository could not tell. (.ci/run carries out the
// self-check of this repository, for all packages.)
func TestSelfCheck(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles and tests a repository several times")
	}
	t.Parallel()
	repo := t.TempDir()
	for _, f := range txtar.Parse([]byte(smallRepo)).Files {
		path := filepath.Join(repo, filepath.FromSlash(f.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, f.Data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	flows := filepath.Join(repo, "examples", "self-check")
	if err := errors.Join(os.CopyFS(flows, os.DirFS("../../examples/self-check")), os.CopyFS(filepath.Join(repo, ".ci"), os.DirFS("../../.ci"))); err != nil {
		t.Fatal(err)
	}
	binary := build(t)
	apply := func(dir string, words ...string) *exec.Cmd {
		cmd := exec.Command(binary, append([]string{"apply"}, words...)...)
		cmd.Dir = dir
		return cmd
	}
	report := mustPass(t, apply(repo, "examples/self-check", "--var", "min_coverage=75"))
	if !regexp.MustCompile(`^again = \ncoverage = 75\nmib = [\d.]+\nreport = 3 files in 1 packages, 75% covered, [\d.]+ MiB\n$`).MatchString(report) {
		t.Errorf("the self-check prints\n%s", report)
	}
	if again := mustPass(t, apply(t.TempDir(), flows, "--var", "min_coverage=75")); report != again {
		t.Errorf("from another folder the self-check says\n%swhere it said\n%s", again, report)
	}

	once := filepath.Join(repo, "dsl", "sign", "once_test.go")
	if err := os.WriteFile(once, []byte(failsOnce), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := mustPass(t, apply(repo, "examples/self-check", "--var", "min_coverage=75")); !strings.HasPrefix(out, "again = example.org/small/dsl/sign TestOnce/in_\"part\"\n") {
		t.Errorf("of a test that fails once the self-check prints\n%s", out)
	}
	if err := os.Remove(once); err != nil {
		t.Fatal(err)
	}

	for _, broken := range []struct{ name, words, file, text, want string }{
		{"a failing test", "--target test", "dsl/sign/broken_test.go", "package sign\n\nimport \"testing\"\n\nfunc TestBroken(t *testing.T) { t.Error(\"broken on purpose\") }\n", "broken on purpose"},
		{"a test that ends its process", "--target test", "dsl/sign/broken_test.go", "package sign\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestBroken(t *testing.T) {\n\tif os.Mkdir(\"ended\", 0o700) == nil {\n\t\tpanic(\"ends at once\")\n\t}\n}\n", "ends at once"},
		{"bad format", "--target format", "dsl/sign/unformatted.go", "package sign\n\nvar   _ =   1\n", "dsl/sign/unformatted.go"},
		{"a format that does not fit its value", "--target vet", "dsl/sign/unfit_test.go", "package sign\n\nimport \"fmt\"\n\nvar _ = fmt.Sprintf(\"%d\", \"a text\")\n", "dsl/sign/unfit_test.go"},
		{"a coverage below its bound", "--target test", "", "", "less than 85%"},
		{"a binary over its bound", "--target build --var max_mib=1", "", "", "more than 1 MiB"},
	} {
		path := filepath.Join(repo, filepath.FromSlash(broken.file))
		if broken.file != "" {
			if err := os.WriteFile(path, []byte(broken.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := apply(repo, append([]string{flows}, strings.Fields(broken.words)...)...)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 1 || !bytes.Contains(out, []byte(broken.want)) {
			t.Errorf("%s: %v, want exit code 1 and %q\n%s", broken.name, err, broken.want, out)
		}
		if broken.file != "" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func mustPass(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", cmd.Args, err, out, stderr.Bytes())
	}
	return string(out)
}

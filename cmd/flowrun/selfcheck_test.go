package main_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSelfCheck runs the README's first command in a copy of the repository, for one package, then breaks the copy in several
// ways and looks whether it is noticed: a figure that does not come from the repository could not tell. (.ci/run carries out
// the self-check for all packages.) It skips under -short, so that the self-check, which runs the short tests, never runs itself.
func TestSelfCheck(t *testing.T) {
	if testing.Short() {
		t.Skip("runs this repository's tests, and is run by them")
	}
	t.Setenv("GOFLAGS", "-trimpath") // so that the copy compiles nothing twice
	repo := copyRepo(t)
	few := []string{"--var", "packages=dsl/value"}
	first := exec.Command("go", append([]string{"run", "./cmd/flowrun", "apply", "examples/self-check"}, few...)...)
	first.Dir = repo
	report := mustPass(t, first)
	if !regexp.MustCompile(`^coverage = \d+(\.\d+)?\nmib = \d+(\.\d+)?\nreport = \d+ files in 1 packages, .*\n$`).MatchString(report) {
		t.Errorf("the self-check prints\n%s", report)
	}

	binary := build(t)
	elsewhere := exec.Command(binary, append([]string{"apply", filepath.Join(repo, "examples", "self-check")}, few...)...)
	elsewhere.Dir = t.TempDir()
	again := mustPass(t, elsewhere)
	if a, b := steady(report), steady(again); a != b {
		t.Errorf("from another folder the self-check says\n%swhere it said\n%s", b, a)
	}

	for _, broken := range []struct{ name, words, file, text, want string }{
		{"a failing test", "--target test", "dsl/value/broken_test.go", "package value\n\nimport \"testing\"\n\nfunc TestBroken(t *testing.T) { t.Error(\"broken on purpose\") }\n", "broken on purpose"},
		{"bad format", "--target format", "dsl/value/unformatted.go", "package value\n\nvar   _ =   1\n", "dsl/value/unformatted.go"},
		{"a format that does not fit its value", "--target vet", "dsl/value/unfit_test.go", "package value\n\nimport \"fmt\"\n\nvar _ = fmt.Sprintf(\"%d\", \"a text\")\n", "dsl/value/unfit_test.go"},
		{"a coverage below its bound", "--target test --var min_coverage=99.9", "", "", "less than 99.9%"},
		{"a binary over its bound", "--target build --var max_mib=1", "", "", "more than 1 MiB"},
	} {
		path := filepath.Join(repo, filepath.FromSlash(broken.file))
		if broken.file != "" {
			if err := os.WriteFile(path, []byte(broken.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		words := append([]string{"apply", filepath.Join(repo, "examples", "self-check")}, few...)
		cmd := exec.Command(binary, append(words, strings.Fields(broken.words)...)...)
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

// steady leaves out the coverage, which depends a little on what the tests' goroutines came to.
func steady(report string) string {
	return regexp.MustCompile(`coverage = .*\n|, [\d.]+% covered`).ReplaceAllString(report, "")
}

// copyRepo copies what git would keep: no hidden folders but .ci, no stores.
func copyRepo(t *testing.T) string {
	t.Helper()
	to := t.TempDir()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel("../..", path)
		switch {
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != "." && name != ".ci":
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), text, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

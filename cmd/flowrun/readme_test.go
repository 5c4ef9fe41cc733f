package main_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadme does what the README says, as a newcomer would: its files are written (```hcl NAME), its sessions (```console) are
// typed line by line in one folder, and what it prints must stand below the line. Run ids, times and durations may differ,
// and what goes to standard error is shown only where the command fails without printing anything else.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, sessions := follow(t, string(text)); sessions < 3 {
		t.Errorf("only %d sessions were found in the README", sessions)
	}
}

var updateHowTos = flag.Bool("howto.update", false, "write what the sessions of the how-tos print into them")

// TestHowTos does what each how-to says, as [TestReadme] does.
func TestHowTos(t *testing.T) {
	files, err := filepath.Glob("../../dsl/reference/howto/[a-z]*.md")
	if err != nil || len(files) < 20 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".md"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			now, sessions := follow(t, string(text))
			if sessions == 0 {
				t.Error("no session was found")
			}
			if *updateHowTos && same(now) != same(string(text)) {
				if err := os.WriteFile(file, []byte(now), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// follow does what a page says. It returns the page with what its sessions print now, and how many sessions there are.
func follow(t *testing.T, text string) (now string, sessions int) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Dir(build(t)) + string(os.PathListSeparator) + os.Getenv("PATH")
	for _, b := range blocks(text) {
		switch {
		case strings.HasPrefix(b.info, "hcl "):
			if err := os.WriteFile(filepath.Join(dir, strings.TrimPrefix(b.info, "hcl ")), []byte(b.text), 0o600); err != nil {
				t.Fatal(err)
			}
		case b.info == "console":
			sessions++
			got := session(dir, path, b.text)
			if same(got) != same(b.text) {
				t.Errorf("the page shows\n%s\nthis is printed\n%s", b.text, got)
			}
			text = strings.Replace(text, b.text, got, 1)
		}
	}
	return text, sessions
}

type block struct{ info, text string }

var fence = regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```$")

func blocks(text string) (list []block) {
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		list = append(list, block{m[1], m[2]})
	}
	return list
}

// session types the lines that begin with a dollar sign and writes down what a reader of the README would see.
func session(dir, path, text string) string {
	var out strings.Builder
	store := filepath.Join(dir, ".flowrun")
	for _, line := range strings.Split(text, "\n") {
		typed, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		out.WriteString(line + "\n")
		if to, is := strings.CutPrefix(typed, "cd "); is {
			dir = filepath.Join(dir, to)
			continue
		}
		cmd := exec.Command("sh", "-c", typed)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GITHUB_ACTIONS=", "PATH="+path, "FLOWRUN_STORE="+store)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		stdout, err := cmd.Output()
		out.Write(stdout)
		if err != nil {
			if len(stdout) == 0 {
				out.WriteString(stderr.String())
			}
			out.WriteString(err.Error() + "\n")
		}
	}
	return out.String()
}

var differs = regexp.MustCompile(`\b[a-z2-7]{12}\b|\d+\.\ds|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d( \([^)]*\))?|, (just now|\d+ s ago), |\d{4}-\d\d-\d\dT[\d:.]+Z`)

func same(s string) string { return differs.ReplaceAllString(s, "…") }

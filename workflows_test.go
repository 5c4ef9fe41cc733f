package flowrun_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The tables of workflows/README.md name the page of each workflow, and a test for each pattern. What they name exists: files, and Go tests in
// their files. No pattern is without a test, and no workflow is left out.
func TestWorkflowsReadme(t *testing.T) {
	text, err := os.ReadFile("workflows/README.md")
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile("\\[(`Test\\w+`|[^\\]]*)\\]\\(([^)]+)\\)")
	var named []string
	patterns := 0
	for n, line := range strings.Split(string(text), "\n") {
		links := link.FindAllStringSubmatch(line, -1)
		if regexp.MustCompile(`^\| \d+ \|`).MatchString(line) {
			if patterns++; len(links) == 0 {
				t.Errorf("line %d: a pattern without a test: %s", n+1, line)
			}
		}
		for _, l := range links {
			path := filepath.Join("workflows", l[2])
			named = append(named, path)
			source, err := os.ReadFile(path)
			if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
				continue
			}
			if err != nil {
				t.Errorf("line %d: %v", n+1, err)
			}
			if name := strings.Trim(l[1], "`"); name != l[1] && !strings.Contains(string(source), "\nfunc "+name+"(t *testing.T)") {
				t.Errorf("line %d: %s has no test %s", n+1, path, name)
			}
		}
	}
	programs, err := filepath.Glob("workflows/*/*.flow.hcl")
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range programs {
		if !slices.Contains(named, filepath.Join(filepath.Dir(program), "README.md")) {
			t.Errorf("workflows/README.md does not name %s", program)
		}
		if _, err := os.Stat(strings.TrimSuffix(program, ".flow.hcl") + ".flowtest.hcl"); err != nil {
			t.Error(err)
		}
	}
	if patterns < 60 || len(programs) < 20 {
		t.Errorf("%d patterns, %d workflows", patterns, len(programs))
	}
}

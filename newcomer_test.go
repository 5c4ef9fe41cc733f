package flowrun_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestNewcomer checks the table of what newcomers tripped over: each finding has a row, and each row names tests that are there.
func TestNewcomer(t *testing.T) {
	const findings = 36
	page, err := os.ReadFile("testdata/newcomer/findings.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`^\| (\d+) \| .+ \| (.+) \|$`)
	shown := regexp.MustCompile("`([^`:]+): ([^`]+)`")
	next := 1
	for line := range strings.Lines(string(page)) {
		m := row.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			continue
		}
		if m[1] != strconv.Itoa(next) {
			t.Errorf("after finding %d comes finding %s", next-1, m[1])
		}
		next++
		tests := shown.FindAllStringSubmatch(m[2], -1)
		if len(tests) == 0 {
			t.Errorf("finding %s names no test", m[1])
		}
		for _, s := range tests {
			text, err := os.ReadFile(s[1])
			if err != nil {
				t.Errorf("finding %s: %v", m[1], err)
			} else if !strings.Contains(string(text), s[2]) {
				t.Errorf("finding %s: %s does not have %q", m[1], s[1], s[2])
			}
		}
	}
	if next-1 != findings {
		t.Errorf("the table has %d findings", next-1)
	}
}

package flowrun_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// hardPhrases are phrases that readers stumbled over, each with what to write. Every part of the house where a user reads is looked at: the
// texts in code, the pages of the reference, the README, and the pages and programs of workflows/.
var hardPhrases = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?i)\bstands?\b`), `"is in", "is allowed in", "means"`},
	{regexp.MustCompile(`(?i)\b(is|are) no [a-z]`), `"is not a"`},
	{regexp.MustCompile(`(?i)\bgo(es)? on\b`), `"continues"`},
	{regexp.MustCompile(`(?i)\b(nobody|somebody|whoever)\b`), "the person, the agent or the process"},
	{regexp.MustCompile(`(?i)\b(is|are) told\b`), `"gets", "receives"`},
	{regexp.MustCompile(`(?i)\bwhatever the end\b`), `"however it ended"`},
	{regexp.MustCompile(`(?i)\bunder way\b`), `"running"`},
	{regexp.MustCompile(`(?i)\bma(de|kes?) (it |them |all )?again\b`), `"retries", "repeats"`},
	{regexp.MustCompile(`(?i)\bfor good\b`), `"permanently"`},
	{regexp.MustCompile(`(?i)\band their kin\b`), `"and similar"`},
	{regexp.MustCompile(`(?i)\bis mended\b`), `"is fixed"`},
	{regexp.MustCompile(`(?i)\bhow a [a-z]+ stands\b`), `"the state of"`},
	{regexp.MustCompile(`(?i)\bis written out\b`), `"is a literal"`},
	{regexp.MustCompile(`(?i)\bcan be read here\b`), `"is available here"`},
	{regexp.MustCompile(`(?i)\bIn flowrun this is written\b`), `"In flowrun, write"`},
}

// fine are uses of these words that are fine: there is no X, and a stand-in.
var fine = regexp.MustCompile(`(?i)\bthere (is|are) no\b|\bstand-ins?\b`)

// allowedPhrases are parts of the texts below the command line that keep such a phrase. Most are kept in journals, where a run that is
// replayed must say the same, or in stores and pictures; the others are errors of the runner that few people see. A new text is not added
// here: it says it in another way.
var allowedPhrases = []string{
	"stands twice in one object",
	"options stand before the script",
	"what stands behind -- is",
	"nobody here evaluates conditions",
	"is under way",
	"nobody drove it before",
	"would stand in messages and logs",
	"nobody knows what became of it",
	"event %d stands where",
	"whoever does such work next",
	"nobody decided within",
	"nobody did it within",
	"capabilities that nobody of",
	"the run goes on beyond",
	"waits for nobody",
	"nobody has it; its newest token",
	"for somebody who starts their runs",
	"nobody started its run within",
	"nobody said for whom",
	"had round %d made again",
	"ongoing, underway, under way",
	"somebody else",
	"it stands in a circle of needs",
	"the next run goes on",
	"at runs goes on to its end",
	"nobody can take anything",
	"the source says that nobody may",
	"nobody asks a source of kind",
	"characters that nobody can type",
	"uses the memory goes on with",
	"found where nobody can write",
	"the search goes on by words",
}

func TestEnglish(t *testing.T) {
	used := map[string]bool{}
	check := func(where, text string) {
		for _, line := range strings.Split(text, "\n") {
			for _, h := range hardPhrases {
				found := h.pattern.FindString(fine.ReplaceAllString(line, ""))
				if found == "" {
					continue
				}
				allowed := false
				for _, part := range allowedPhrases {
					if strings.Contains(line, part) {
						allowed, used[part] = true, true
					}
				}
				if !allowed {
					t.Errorf("%s: %q: write %s: %s", where, found, h.instead, strings.TrimSpace(line))
				}
			}
		}
	}
	texts := 0
	for _, dir := range []string{"dsl", "runner", "loop", "memory", "cmd/flowrun", "workflows", "README.md"} {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || d.Name() == "notes" || d.Name() == "enginetest" || d.Name() == "sim" || d.Name() == "embed"):
				return filepath.SkipDir
			case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
				texts += literals(t, name, check)
			case strings.HasPrefix(name, "workflows") && strings.HasSuffix(name, ".hcl"):
				src, err := os.ReadFile(name)
				if err != nil {
					return err
				}
				for line := range strings.Lines(string(src)) {
					if texts++; strings.Contains(line, "#") || strings.HasPrefix(line, "test \"") { // comments, and what tests show
						check(name, line)
					}
				}
			case strings.HasSuffix(name, ".md"):
				src, err := os.ReadFile(name)
				if err != nil {
					return err
				}
				for i, part := range strings.Split(string(src), "\n```") { // every second one is code
					if texts++; i%2 == 0 {
						check(name, part)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, part := range allowedPhrases {
		if !used[part] {
			t.Errorf("no text has %q any more: take it out of allowedPhrases", part)
		}
	}
	if texts < 5000 {
		t.Errorf("%d texts were looked at", texts)
	}
}

// literals gives the texts of a file of code that have a blank in them to check, and counts them.
func literals(t *testing.T, name string, check func(where, text string)) (n int) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if text, err := strconv.Unquote(node.Value); err == nil && node.Kind == token.STRING && strings.Contains(text, " ") {
				n++
				check(fset.Position(node.Pos()).String(), text)
			}
		}
		return true
	})
	return n
}

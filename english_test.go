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
	{regexp.MustCompile(`(^|[.:] )(What|Who) (is|are|was|has|had|needs?|reads?|runs?|ends?|does|did|cannot|can|comes?|holds?|says?|waits?)\b[^?]*$`), "a noun as the subject"},
	{regexp.MustCompile(`(^|[.:;] )Who [a-z]+s\b[^?]*$`), "a noun as the subject"},
	{regexp.MustCompile(`\bAll of it\b`), `"Details"`},
	{regexp.MustCompile(`\bfor ever\b`), `"forever"`},
	{regexp.MustCompile(`\bMended\b`), `"Fixed"`},
	{regexp.MustCompile(`(?i)\b(it|they|which) (used to|was|were) told\b`), `"received"`},
	{regexp.MustCompile(`(?i)\bdid not end well\b`), `"failed"`},
	{regexp.MustCompile(`\bSay (which|whether)\b`), `"Print"`},
	{regexp.MustCompile(`(?i)\btheir one layout\b`), `"Format"`},
	{regexp.MustCompile(`(?i)\bdid not end within\b`), `"exceeded its timeout of"`},
	{regexp.MustCompile(`(?i)\b(of|after) its release\b`), "the limit by its name"},
	{regexp.MustCompile(`(?i)\bthat is set back\b`), `"if the clock is set back"`},
	{regexp.MustCompile(`(?i)\btells? (whether|that)\b`), `"reports whether"`},
	{regexp.MustCompile(`(?i)\bfew nodes come to\b`), "the subject first"},
	{regexp.MustCompile(`(?i)\ball but one go away\b`), `"one wins"`},
	{regexp.MustCompile(`(?i)\bfell silent\b`), `"lost contact with"`},
}

// fine are uses of these words that are fine: there is no X, is no longer, and a stand-in.
var fine = regexp.MustCompile(`(?i)\bthere (is|are) no\b|\b(is|are) no longer\b|\bstand-ins?\b`)

// allowedPhrases are parts of the texts below the command line that keep such a phrase. Most are kept in journals, where a run that is
// replayed must say the same, or in stores and pictures; the others are errors of the runner that few people see. A new text is not added
// here: it says it in another way.
var allowedPhrases = []string{
	// Of runs of behaviour number 1, and of loops:
	"%s did not end within %s",
	"nobody decided within",
	"nobody did it within",
	"it fell silent",
	"the next run goes on",
	". What runs goes on to its end.",
	"nobody can take anything",
	"stands twice in one object",
	// The others:
	"nobody drove it before",
	"ongoing, underway, under way",
	"somebody else",
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
	for _, dir := range []string{"dsl", "runner", "loop", "memory", "cmd/flowrun", "workflows", "README.md", "CHANGELOG.md"} {
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

package shared

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRulesHaveTests reads the table of the notes.
func TestRulesHaveTests(t *testing.T) {
	notes, err := os.ReadFile("notes/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	for kind, files := range map[string]string{"script": "../machine/testdata/*.txt", "construct": "../../testdata/constructs/*.flowtest.hcl", "session": "../../testdata/script/*.txtar"} {
		paths, err := filepath.Glob(files)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths { // any order: it fills a map
			name, _, _ := strings.Cut(filepath.Base(path), ".")
			tests[kind+"/"+name] = true
		}
	}
	for _, dir := range []string{"shared", "admission", "machine", "engine", "engine/enginetest", "engine/local", "engine/sim", "executor/command", "flowtest", "outline",
		"event", "journal", "../dsl", "../dsl/expr", "../dsl/reference", "../runner"} {
		files, err := filepath.Glob(filepath.Join("..", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok {
					tests[filepath.Base(dir)+"."+fn.Name.Name] = true
				}
			}
		}
	}
	rows := regexp.MustCompile(`(?m)^\| (.+) \| (.+) \|$`).FindAllStringSubmatch(string(notes), -1)
	if len(rows) < 10 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	for _, row := range rows[1:] {
		for _, name := range strings.Split(row[2], ", ") {
			if !tests[name] {
				t.Errorf("no test %s holds the rule: %s", name, row[1])
			}
		}
	}
}

package flowrun_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"
)

// ordered are the packages in which no order of a map may be seen: what they do is digested and replayed.
var ordered = []string{"dsl/value", "dsl/ir", "dsl/expr", "runner/event", "runner/policy", "runner/plan", "runner/journal", "runner/machine",
	"memory/entry", "memory/learn", "memory/window", "memory/rank", "memory/text"}

// anyOrder is the comment that a loop over a map must carry, with the reason why its order can't be seen.
const anyOrder = "// any order: "

// TestNoOrderOfMapsCanBeSeen finds every range over a map in the packages whose behaviour is journaled.
func TestNoOrderOfMapsCanBeSeen(t *testing.T) {
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "source", nil)
	for _, dir := range ordered {
		names, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s has no files: %v", dir, err)
		}
		var files []*ast.File
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		for _, v := range mapRanges(t, fset, imports, module+dir, files) {
			t.Error(v)
		}
	}
}

// TestOrderOfMapsIsFound plants a loop over a map, once bare and once with its reason.
func TestOrderOfMapsIsFound(t *testing.T) {
	const src = `package p
func f(m map[string]int) (n int) {
	for _, v := range m {
		n = v
	}
	for range m { // any order: it only counts
		n++
	}
	return n
}`
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "planted.go", src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	if got := mapRanges(t, fset, nil, "p", []*ast.File{f}); len(got) != 1 || !strings.Contains(got[0], "planted.go:3") {
		t.Errorf("found %q, want the loop in line 3 alone", got)
	}
}

func mapRanges(t *testing.T, fset *token.FileSet, imports types.Importer, path string, files []*ast.File) (out []string) {
	t.Helper()
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	if _, err := (&types.Config{Importer: imports}).Check(path, fset, files, info); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		excused := map[int]bool{}
		for _, group := range f.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(c.Text, anyOrder) {
					excused[fset.Position(c.Pos()).Line] = true
				}
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			r, ok := n.(*ast.RangeStmt)
			if !ok {
				return true
			}
			if _, isMap := info.Types[r.X].Type.Underlying().(*types.Map); isMap {
				if at := fset.Position(r.Pos()); !excused[at.Line] {
					out = append(out, at.String()+": a loop over a map, whose order can be seen; sort its keys, or say behind it "+anyOrder+"WHY")
				}
			}
			return true
		})
	}
	return out
}

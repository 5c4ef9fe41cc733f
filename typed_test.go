package flowrun_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// typed is the production code of one package, with the types of its expressions.
type typed struct {
	dir   string // relative to the module, as in the table of layers
	fset  *token.FileSet
	files []*ast.File
	info  *types.Info
	pkg   *types.Package
}

// typedPackages gives every package of flowrun by its folder. The types of what a package imports come from the
// compiler's own output, which the build has cached: checking them from source takes ten times as long.
func typedPackages(t *testing.T) map[string]*typed {
	t.Helper()
	packages, err := loadTyped()
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

var loadTyped = sync.OnceValues(func() (map[string]*typed, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", "./...")
	cmd.Stderr = os.Stderr
	listed, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	type entry struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
	}
	exports, ours := map[string]string{}, []entry(nil)
	for d := json.NewDecoder(bytes.NewReader(listed)); ; {
		var e entry
		if err := d.Decode(&e); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		exports[e.ImportPath] = e.Export
		if strings.HasPrefix(e.ImportPath, module) {
			ours = append(ours, e)
		}
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	packages := map[string]*typed{}
	for _, e := range ours {
		p := &typed{dir: strings.TrimPrefix(e.ImportPath, module), fset: fset}
		for _, name := range e.GoFiles {
			src, err := os.ReadFile(filepath.Join(e.Dir, name))
			if err != nil {
				return nil, err
			}
			if err := p.parse(filepath.Join(filepath.FromSlash(p.dir), name), src); err != nil {
				return nil, err
			}
		}
		if err := p.check(imports); err != nil {
			return nil, err
		}
		packages[p.dir] = p
	}
	return packages, nil
})

// typedSource is a package of one file.
func typedSource(t *testing.T, name, src string) *typed {
	t.Helper()
	p := &typed{dir: "planted", fset: token.NewFileSet()}
	if err := p.parse(name, []byte(src)); err != nil {
		t.Fatal(err)
	}
	if err := p.check(importer.ForCompiler(p.fset, "source", nil)); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *typed) parse(name string, src []byte) error {
	f, err := parser.ParseFile(p.fset, name, src, parser.ParseComments)
	p.files = append(p.files, f)
	return err
}

func (p *typed) check(imports types.Importer) error {
	p.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	pkg, err := (&types.Config{Importer: imports}).Check(module+p.dir, p.fset, p.files, p.info)
	p.pkg = pkg
	return err
}

// excused are the lines of a file that carry a comment which begins with mark, and so a reason.
func (p *typed) excused(f *ast.File, mark string) map[int]bool {
	lines := map[int]bool{}
	for _, group := range f.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, mark) {
				lines[p.fset.Position(c.Pos()).Line] = true
			}
		}
	}
	return lines
}

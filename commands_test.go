package flowrun_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// commandFolder is the package of the commands.
const commandFolder = "cmd/flowrun/internal/app"

// sharedFiles are its files with what several commands need. Every other file holds one command.
var sharedFiles = map[string]string{
	"app":           "one call of the command line, and its streams",
	"root":          "the root command",
	"exit":          "errors and exit codes",
	"hints":         "words and flags of other tools",
	"flags":         "flags and the environment",
	"store":         "the place of a store, and the search for a run",
	"values":        "flags that give values, and the first event of a run",
	"environment":   "the environment that a command works in",
	"release":       "the release of this program",
	"listing":       "the list of runs",
	"findings":      "what doctor finds",
	"tools":         "what MCP servers say of their tools",
	"program":       "programs from the disk",
	"changed":       "programs that have changed since a run began",
	"follow":        "runs that events start while a command lives",
	"fleet":         "runs on another engine",
	"engine":        "which engine keeps the runs, and what each command makes of it",
	"drive":         "the screen and the end of a driven run",
	"report":        "reports in files",
	"output":        "the output of attempts",
	"again":         "a run that repeats another one",
	"dlq_ask":       "dead letters as the store gives them",
	"people":        "decisions, and what waits for people",
	"backups":       "backups in a store",
	"dispatch_ask":  "work that is handed in, in words",
	"routines_ask":  "registered routines, and changes of them",
	"kv_ask":        "a request to what runs share",
	"loop_ask":      "a loop of a program, and its run",
	"limits_ask":    "the limits that runs share, and changes of them",
	"memory_away":   "the commands of the memory that a worker carries out",
	"memory_open":   "opening the memory, and its errors",
	"memory_change": "commands that change named entries",
	"memory_entry":  "entries that flags describe",
	"memory_ids":    "ids of entries, runs and authors",
}

// TestOneFileACommand holds the layout of the package of the commands: a file that is not shared declares one
// command, newXCommand in x.go; all that it declares has the command in its name; and no other file uses it.
func TestOneFileACommand(t *testing.T) {
	files := map[string]*ast.File{}
	names, err := filepath.Glob(commandFolder + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimSuffix(filepath.Base(name), ".go")] = f
	}
	if len(files) == 0 {
		t.Fatal("there are no commands in " + commandFolder)
	}
	for _, v := range commandViolations(files) {
		t.Error(v)
	}
	for name := range sharedFiles {
		if files[name] == nil {
			t.Errorf("the table of shared files has %s.go, which is not there", name)
		}
	}
}

// TestOneFileACommandFailsWhenBroken plants one violation of each sort.
func TestOneFileACommandFailsWhenBroken(t *testing.T) {
	for want, src := range map[string]map[string]string{
		"plan.go does not declare newPlanCommand":     {"plan": `func runPlan() {}`},
		"plan.go declares newGraphCommand":            {"plan": `func newPlanCommand() {}; func newGraphCommand() {}`},
		"plan.go: forecast does not name its command": {"plan": `func newPlanCommand() {}; func forecast() {}`},
		"graph.go uses runPlan of plan.go":            {"plan": `func newPlanCommand() {}; func runPlan() {}`, "graph": `func newGraphCommand() { runPlan() }`},
		"app.go uses app.runPlan of plan.go":          {"plan": `func newPlanCommand() {}; func (a *app) runPlan() {}`, "app": `func f(a *app) { a.runPlan() }`},
	} {
		files := map[string]*ast.File{}
		for name, text := range src {
			f, err := parser.ParseFile(token.NewFileSet(), name, "package app\n"+text, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files[name] = f
		}
		if have := commandViolations(files); len(have) != 1 || have[0] != want {
			t.Errorf("the wall says %q, want %q", have, want)
		}
	}
}

// commandViolations lists what is wrong with the layout of files, by their names without .go.
func commandViolations(files map[string]*ast.File) (out []string) {
	home := map[string]string{} // the command's file of a declaration
	for name, f := range files {
		if sharedFiles[name] != "" {
			continue
		}
		command := "new" + camelCase(name) + "Command"
		word := strings.ToLower(name[strings.LastIndexByte(name, '_')+1:])
		found := false
		for _, decl := range declarations(f) {
			bare := decl[strings.LastIndexByte(decl, '.')+1:]
			switch {
			case bare == command:
				found = true
				continue
			case strings.HasPrefix(bare, "new") && strings.HasSuffix(bare, "Command"):
				out = append(out, fmt.Sprintf("%s.go declares %s", name, bare))
			case !strings.Contains(strings.ToLower(strings.TrimPrefix(decl, "app.")), word):
				out = append(out, fmt.Sprintf("%s.go: %s does not name its command", name, decl))
			}
			home[decl] = name
		}
		if !found {
			out = append(out, fmt.Sprintf("%s.go does not declare %s", name, command))
		}
	}
	for name, f := range files {
		for decl, of := range home {
			if of != name && usesDeclaration(f, decl) {
				out = append(out, fmt.Sprintf("%s.go uses %s of %s.go", name, decl, of))
			}
		}
	}
	slices.Sort(out)
	return out
}

// camelCase writes memory_add as MemoryAdd.
func camelCase(name string) (out string) {
	for _, part := range strings.Split(name, "_") {
		out += strings.ToUpper(part[:1]) + part[1:]
	}
	return out
}

// declarations lists the declarations of a file: those of methods as type.method.
func declarations(f *ast.File) (names []string) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = receiverOf(d.Recv.List[0].Type) + "." + name
			}
			names = append(names, name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						names = append(names, n.Name)
					}
				}
			}
		}
	}
	return names
}

func receiverOf(t ast.Expr) string {
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	return t.(*ast.Ident).Name
}

// usesDeclaration reports whether a file uses a declaration: a name by itself, or a method of the app.
func usesDeclaration(f *ast.File, decl string) (used bool) {
	method, ofApp := strings.CutPrefix(decl, "app.")
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				used = used || ofApp && x.Name == "a" && n.Sel.Name == method
				return false
			}
		case *ast.KeyValueExpr: // the key may be a field
			ast.Inspect(n.Value, func(v ast.Node) bool {
				if x, ok := v.(*ast.Ident); ok && x.Name == decl {
					used = true
				}
				return true
			})
		case *ast.Ident:
			used = used || n.Name == decl
		case *ast.Field:
			return false // names of parameters and fields
		}
		return true
	})
	return used
}

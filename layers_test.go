// Package flowrun_test holds the walls of the house: who may import whom, and which rooms are pure.
package flowrun_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layers is the house from the ground up. A package may import the packages of flowrun and the modules that its line
// names, and the standard library; tests may import anything. "pure" rooms get nothing of the standard library that
// reads a clock, rolls dice, does I/O, locks or starts goroutines, and import only pure rooms of flowrun. A "once" room is
// pure but for values that it computes when they are first needed, from nothing but constants. A "leaf" room has
// constants alone, and every package may import it. "*" stands for every package of flowrun, and "-" takes one out again. A line may be widened; that is a change of the design, and its commit says why.
const layers = `
dsl/libm                    pure:
dsl/limits                  leaf:
dsl/lazyregexp              once:

dsl/value                        pure:
dsl/diag                         pure: dsl/lazyregexp
dsl/ir                           pure: dsl/value
dsl/syntax                       pure: dsl/diag hcl cty dsl/lazyregexp
dsl/format                       pure: dsl/diag dsl/syntax hcl
dsl/schema                       pure: dsl/value
dsl/shell                        once: dsl/diag sh dsl/lazyregexp
dsl/expr                         pure: dsl/libm dsl/diag dsl/ir dsl/value hcl cty expr jsonschema text yaml dsl/lazyregexp
dsl/check                        pure: loop/schedule dsl/diag dsl/expr dsl/format dsl/ir dsl/schema dsl/shell dsl/syntax dsl/value hcl cty dsl/lazyregexp
dsl/importer                     pure: dsl/diag dsl/format dsl/syntax yaml dsl/lazyregexp
dsl/core                         pure: dsl/check dsl/diag dsl/expr dsl/schema dsl/syntax dsl/value hcl dsl/lazyregexp
dsl/lower                        pure: dsl/check dsl/diag dsl/ir dsl/schema dsl/value
dsl                              dsl/check dsl/core dsl/diag dsl/expr dsl/format dsl/ir dsl/lower dsl/schema dsl/syntax dsl/value hcl dsl/lazyregexp
dsl/disk                         dsl
dsl/reference                    dsl dsl/check dsl/diag dsl/expr dsl/schema dsl/shell dsl/syntax dsl/value dsl/lazyregexp
dsl/editor                       dsl/reference dsl/schema dsl/syntax hcl dsl/lazyregexp

runner/event                     pure: dsl/ir dsl/value
loop                             pure: runner/event
loop/machine                     pure: dsl/ir dsl/value loop runner/compose runner/event runner/plan runner/snapshot
runner/heap                      pure:
runner/scripts                   pure: dsl/ir dsl/shell dsl/lazyregexp
runner/outline                   pure: dsl/ir dsl/value runner/event runner/plan runner/policy
runner/policy                    pure: dsl/libm
runner/plan                      pure: dsl/ir
runner/request                   pure: dsl/value runner/event
runner/compose                   pure: dsl/ir dsl/value runner/event runner/plan runner/policy runner/request
runner/machine                   pure: dsl/diag dsl/ir dsl/value runner/compose runner/event runner/judge runner/outline runner/plan runner/policy runner/request runner/slots runner/snapshot dsl/lazyregexp
runner/slots                     pure: dsl/value runner/heap runner/snapshot
runner/snapshot                  once: dsl/value
runner/snapshot/snapshottest     dsl/ir runner/event runner/machine runner/plan
runner/retry                     pure: dsl/ir dsl/value runner/event runner/plan runner/view
runner/tasks                     pure: dsl/ir dsl/value runner/event runner/plan dsl/lazyregexp
runner/replay                    pure: dsl/value runner/event runner/heap runner/view
runner/reuse                     pure: dsl/ir dsl/value runner/event runner/plan runner/replay runner/retry runner/view
runner                           runner/reuse
cmd/flowrun/internal/ui          runner/reuse runner/simulate dsl/lazyregexp
runner/journal                   pure: runner/event
runner/artifact                  memory/private runner/event
runner/artifact/bucket
runner/judge                     pure: dsl/ir dsl/value runner/event
runner/admission                 pure: dsl/value runner/event runner/shared
runner/shared                    pure: loop/schedule dsl/ir dsl/value runner/event runner/snapshot dsl/lazyregexp
runner/watch
runner/trace                     pure: dsl/ir runner/event runner/view
runner/trace/otlp                runner/trace memory/private
runner/webhook                   pure: dsl/ir dsl/value
runner/view                      pure: dsl/ir dsl/value runner/event
runner/view/graph                pure: dsl/ir dsl/value runner/event runner/view
runner/durations                 pure: runner/event runner/snapshot runner/view
runner/stats                     pure: dsl/ir runner/event
runner/forecast                  pure: dsl/ir dsl/value runner/durations runner/event runner/heap runner/machine runner/plan
runner                           dsl/expr dsl/ir dsl/value loop loop/machine loop/source loop/worktree memory runner/compose runner/durations runner/engine runner/event runner/executor runner/executor/benchmark runner/executor/notify runner/executor/recall runner/executor/secret runner/forecast runner/given runner/journal runner/learning runner/machine runner/plan runner/replay runner/retry runner/scripts runner/stats runner/trace runner/view runner/watch
runner/given                     dsl dsl/expr dsl/ir dsl/syntax dsl/value runner/event runner/executor/secret
runner/flowtest                  dsl/expr dsl/ir dsl/value loop/backlog loop/machine loop/source runner/compose runner/engine runner/engine/sim runner/event runner/executor runner/executor/benchmark runner/executor/notify runner/executor/secret runner/journal runner/machine runner/plan runner/request runner/retry runner/view runner/webhook dsl/lazyregexp
runner/simulate                  dsl/ir dsl/value runner runner/engine runner/event runner/flowtest runner/plan
runner/follow                    memory/private
runner/live                      runner/event
runner/learning                  dsl/expr dsl/ir dsl/schema dsl/value memory memory/embed memory/entry memory/learn memory/private runner/compose runner/engine runner/event runner/executor runner/executor/recall runner/plan runner/tasks
runner/logs                      memory/private runner/event runner/executor/command runner/view
runner/fleet                     dsl/ir loop loop/worktree memory/private runner runner/executor/recall runner/artifact runner/artifact/bucket runner/engine runner/engine/temporal runner/engine/temporal/payload runner/engine/temporal/work runner/event runner/logs runner/standalone
runner/standalone                dsl/value runner runner/engine runner/engine/local runner/event runner/executor runner/executor/a2a runner/executor/acp runner/executor/chat runner/executor/command runner/executor/http runner/executor/mcp runner/follow runner/live runner/logs runner/outline runner/plan runner/trace/otlp runner/view runner/view/graph
runner/engine                    dsl/value runner/durations runner/event runner/heap runner/journal runner/snapshot dsl/lazyregexp
runner/engine/enginetest         dsl/ir dsl/value runner/engine runner/event runner/journal runner/executor
runner/engine/local              memory/private memory/private/durable dsl/value runner/admission runner/artifact runner/durations runner/engine runner/event runner/executor runner/heap runner/journal runner/shared runner/snapshot sqlite
runner/engine/sim                dsl/value runner/admission runner/engine runner/event runner/heap runner/journal runner/shared
runner/engine/temporal           dsl/ir dsl/value runner/durations runner/engine runner/engine/temporal/payload runner/engine/temporal/run runner/engine/temporal/share runner/engine/temporal/wire runner/engine/temporal/work runner/event runner/journal runner/shared temporal temporal-api grpc
runner/engine/temporal/run       pure: runner/admission runner/engine runner/engine/temporal/wire runner/event runner/journal runner/shared temporal-workflow temporal-errors temporal-enums
runner/engine/temporal/share     pure: dsl/ir runner/admission runner/engine runner/engine/temporal/wire runner/event runner/shared temporal-workflow temporal-errors
runner/engine/temporal/inflate   flate
runner/engine/temporal/wire      pure: dsl/value flate runner/admission runner/engine runner/engine/temporal/inflate runner/event runner/journal runner/shared
runner/engine/temporal/payload   temporal temporal-api protobuf
runner/engine/temporal/work      runner/admission runner/engine runner/engine/temporal/wire runner/event runner/executor temporal
runner/executor/benchmark        dsl/ir dsl/value runner/event runner/executor
runner/executor                  runner/event runner/executor/mask
runner/executor/mask             pure: dsl/value dsl/lazyregexp
runner/executor/secret           dsl/ir dsl/value runner/event runner/executor runner/executor/mask runner/request
runner/executor/sse              pure:
runner/executor/notify           dsl/ir dsl/value runner/event runner/executor runner/policy runner/shared
runner/executor/recall           dsl/value runner/event runner/executor
runner/executor/protocol         pure: dsl/value runner/event runner/executor dsl/lazyregexp
runner/executor/chat             dsl/ir dsl/value memory/text memory/window runner/event runner/executor runner/executor/http runner/executor/mask runner/executor/mcp runner/executor/protocol runner/executor/sse dsl/lazyregexp
runner/executor/http             dsl/value runner/event runner/executor runner/executor/mask runner/executor/protocol
runner/executor/mcp              dsl/value runner/event runner/executor runner/executor/http mcp
runner/executor/a2a              dsl/value runner/event runner/executor runner/executor/http runner/executor/protocol runner/executor/sse
runner/executor/acp              dsl/ir dsl/value runner/event runner/executor runner/executor/protocol
runner/executor/command          memory/private dsl/ir runner/event runner/executor runner/executor/mask runner/executor/protocol

memory/cache                     memory/private
memory/entry                     pure:
memory/eval                      pure:
memory/private
memory/private/durable           sqlite
memory/rank                      pure: dsl/libm memory/text
memory/store                     memory/entry memory/private memory/private/durable sqlite
memory/text                      pure:
memory/vector                    chromem
memory/embed                     memory/embed/uselite
memory/embed/glove               dsl/libm memory/embed/pack memory/embed/wordlist memory/text
memory/embed/pack                huff0
memory/learn                     pure: dsl/libm memory/entry memory/text dsl/lazyregexp
memory/window                    pure: memory/text dsl/lazyregexp
memory/embed/uselite             dsl/libm memory/embed/pack memory/embed/wordlist sys text
memory/embed/wordlist            pure:
memory                           memory/cache memory/embed memory/embed/glove memory/entry memory/learn memory/rank memory/store memory/text memory/vector memory/window dsl/lazyregexp

loop/schedule                    pure: dsl/diag loop/zone cron
loop/zone                        pure: dsl/diag
loop/backlog                     once: dsl/lazyregexp runner/event goldmark
loop/source                      dsl/ir dsl/value loop/backlog runner/event runner/executor runner/shared dsl/lazyregexp
loop/worktree                    dsl/ir runner/event runner/executor

workflows

cmd/flowrun                      cmd/flowrun/internal/app cmd/flowrun/internal/boot
cmd/flowrun/internal/boot
cmd/flowrun/internal/args         dsl/value dsl/lazyregexp
cmd/flowrun/internal/ui          dsl/diag dsl/ir dsl/value loop/backlog memory/entry runner/engine runner/event runner/flowtest runner/forecast runner/judge runner/outline runner/replay runner/scripts runner/stats runner/view isatty sys diff
cmd/flowrun/internal/lsp            dsl dsl/diag dsl/editor dsl/format dsl/reference dsl/syntax dsl/lazyregexp
cmd/flowrun/internal/process     runner/engine
cmd/flowrun/internal/revision
cmd/flowrun/internal/comparison  cmd/flowrun/internal/args cmd/flowrun/internal/revision cmd/flowrun/internal/ui dsl dsl/diag dsl/disk dsl/ir runner/outline runner/plan
cmd/flowrun/internal/values      cmd/flowrun/internal/args dsl dsl/expr dsl/ir dsl/value runner/event runner/given
cmd/flowrun/internal/doctor      cmd/flowrun/internal/ui dsl dsl/diag dsl/disk dsl/ir dsl/value memory/private memory/store runner/engine runner/event runner/journal runner/learning runner/shared runner/standalone dsl/lazyregexp
cmd/flowrun/internal/mcp         mcp dsl/lazyregexp sys
cmd/flowrun/internal/serve       dsl dsl/disk dsl/ir dsl/value loop loop/machine loop/schedule loop/worktree memory memory/entry memory/private memory/store runner runner/engine runner/event runner/journal runner/learning runner/logs runner/retry runner/shared runner/standalone runner/stats runner/view runner/view/graph runner/webhook diff dsl/lazyregexp
cmd/flowrun/internal/web           cmd/flowrun/internal/serve cmd/flowrun/internal/ui dsl/ir dsl/value memory/entry runner/event runner/stats runner/view runner/view/graph dsl/lazyregexp
cmd/flowrun/internal/app         * -runner/engine/local -runner/engine/sim -runner/machine -runner/compose -runner/slots -runner/admission -runner/live -runner/follow -runner/executor -runner/executor/benchmark -runner/executor/a2a -runner/executor/acp -runner/executor/command -runner/executor/http -runner/executor/mcp -runner/executor/recall -runner/executor/secret -memory/private -memory/private/durable -memory/cache -dsl/check -dsl/lower cobra hcl

cmd/flowbench                    cmd/flowbench/internal/bench cmd/flowbench/internal/floor
cmd/flowbench/internal/bench     cmd/flowbench/internal/child cmd/flowbench/internal/floor
cmd/flowbench/internal/child
cmd/flowbench/internal/floor     sqlite

cmd/memeval                      memory memory/embed memory/eval

cmd/release
cmd/site                         dsl/reference goldmark
`

// modules are the short names of what lies outside.
var modules = map[string]string{
	"hcl": "github.com/hashicorp/hcl/v2", "cty": "github.com/zclconf/go-cty", "cron": "github.com/robfig/cron/v3", "expr": "github.com/expr-lang/expr",
	"sqlite": "modernc.org/sqlite", "cobra": "github.com/spf13/cobra", "isatty": "github.com/mattn/go-isatty", "sys": "golang.org/x/sys",
	"chromem": "github.com/philippgille/chromem-go", "huff0": "github.com/klauspost/compress/huff0", "flate": "github.com/klauspost/compress/flate",
	"diff":       "github.com/rogpeppe/go-internal/diff",
	"goldmark":   "github.com/yuin/goldmark",
	"jsonschema": "github.com/santhosh-tekuri/jsonschema/v6", "sh": "mvdan.cc/sh/v3", "text": "golang.org/x/text",
	"yaml":     "go.yaml.in/yaml/v3",
	"mcp":      "github.com/modelcontextprotocol/go-sdk",
	"temporal": "go.temporal.io/sdk", "temporal-api": "go.temporal.io/api", "protobuf": "google.golang.org/protobuf", "grpc": "google.golang.org/grpc",
	"temporal-workflow": "go.temporal.io/sdk/workflow", "temporal-errors": "go.temporal.io/sdk/temporal", "temporal-enums": "go.temporal.io/api/enums/v1",
}

const module = "github.com/flowrun/flowrun/"

type room struct {
	pure  bool
	once  bool     // pure but for package sync, and of sync only what is named in lazily
	leaf  bool     // it has constants alone, and every package may import it
	all   bool     // it may import every package of flowrun
	not   []string // but for these
	may   []string
	found bool
}

func rooms(t *testing.T) map[string]*room {
	t.Helper()
	table := map[string]*room{}
	for _, line := range strings.Split(strings.TrimSpace(layers), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		r := table[words[0]] // a room can have several lines
		if r == nil {
			r = &room{}
		}
		for _, w := range words[1:] {
			switch {
			case w == "pure:":
				r.pure = true
			case w == "once:":
				r.pure, r.once = true, true
			case w == "leaf:":
				r.pure, r.leaf = true, true
			case w == "*":
				r.all = true
			case strings.HasPrefix(w, "-"):
				r.not = append(r.not, module+w[1:])
			case modules[w] != "":
				r.may = append(r.may, modules[w])
			default:
				r.may = append(r.may, module+w)
			}
		}
		table[words[0]] = r
	}
	for leaf, l := range table {
		for _, r := range table {
			if l.leaf && r != l {
				r.may = append(r.may, module+leaf)
			}
		}
	}
	return table
}

// forbidden is what of the standard library a pure room may not import.
var forbidden = []string{
	"os", "os/exec", "os/signal", "os/user", "net", "net/http", "log", "log/slog", "sync", "sync/atomic", "math/rand", "math/rand/v2",
	"crypto/rand", "runtime", "runtime/debug", "syscall", "io/ioutil", "path/filepath", "unsafe", "context", "plugin", "hash/maphash",
}

// lazily is what a "once" room may use of package sync: it gives each caller the same value.
var lazily = []string{"OnceValue"}

// borrowed are the imports of rooms that are not pure by pure ones, each with what is taken.
var borrowed = map[string]string{
	"runner/executor/protocol -> runner/executor":                   "constants and Clip, which computes and nothing else",
	"runner/engine/temporal/run -> runner/engine":                   "Session, which has the duties of a host that need no clock, no disk and no goroutine",
	"runner/engine/temporal/share -> runner/engine":                 "FindDeadlock and PackExternal, which compute and nothing else",
	"runner/engine/temporal/wire -> runner/engine":                  "Start, which is data",
	"runner/engine/temporal/wire -> runner/engine/temporal/inflate": "All, which computes, and keeps memory that nobody sees",
}

// TestPureRoomsImportPureRooms closes the walls: a room is as pure as what it imports.
func TestPureRoomsImportPureRooms(t *testing.T) {
	table, used := rooms(t), 0
	for _, v := range impure(table) {
		if borrowed[v] == "" {
			t.Errorf("%s: a pure package imports one that is not pure", v)
		} else {
			used++
		}
	}
	if used != len(borrowed) {
		t.Errorf("%d of %d borrowed imports are in the table of layers", used, len(borrowed))
	}
	table["dsl/value"].pure = false
	if !slices.Contains(impure(table), "runner/machine -> dsl/value") {
		t.Error("an impure dsl/value is not noticed under runner/machine")
	}
}

// impure lists the imports of rooms that are not pure by pure ones.
func impure(table map[string]*room) (out []string) {
	for dir, r := range table {
		for _, m := range r.may {
			below, ours := strings.CutPrefix(m, module)
			if ours && r.pure && (table[below] == nil || !table[below].pure) {
				out = append(out, dir+" -> "+below)
			}
		}
	}
	return out
}

// clock is what a pure room may not call of package time.
var clock = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "LoadLocation", "Local"}

func TestLayers(t *testing.T) {
	table := rooms(t)
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "testdata" || d.Name() == "examples") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		dir := path.Dir(filepath.ToSlash(name))
		r := table[dir]
		if r == nil {
			t.Errorf("%s: package %s has no line in the table of layers", name, dir)
			return nil
		}
		r.found = true
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, v := range violations(fset, name, src, r) {
			t.Error(v)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, r := range table {
		if !r.found {
			t.Errorf("the table of layers has a line for %s, which is not there", dir)
		}
	}
}

// violations lists what a file does that its room may not.
func violations(fset *token.FileSet, name string, src []byte, r *room) []string {
	f, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	report := func(pos token.Pos, format string, args ...any) {
		out = append(out, fmt.Sprintf("%s: %s", fset.Position(pos), fmt.Sprintf(format, args...)))
	}
	for _, i := range f.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		outside := strings.Contains(strings.Split(p, "/")[0], ".")
		switch {
		case !outside:
			if r.pure && slices.Contains(forbidden, p) && !(r.once && p == "sync") {
				report(i.Pos(), "a pure package imports %s", p)
			}
		case r.all && strings.HasPrefix(p, module) && !slices.Contains(r.not, p):
		case !slices.ContainsFunc(r.may, func(m string) bool {
			return p == m || !strings.HasPrefix(m, module) && strings.HasPrefix(p, m+"/")
		}):
			report(i.Pos(), "it may not import %s", p)
		}
	}
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); r.leaf && !(ok && g.Tok == token.CONST) {
			report(d.Pos(), "a leaf has more than constants")
		}
	}
	if r.pure {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				report(n.Pos(), "a pure package starts a goroutine")
			case *ast.SelectStmt, *ast.SendStmt, *ast.ChanType:
				report(n.Pos(), "a pure package uses a channel")
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "sync" && !slices.Contains(lazily, n.Sel.Name) {
					report(n.Pos(), "a pure package uses sync.%s", n.Sel.Name)
				}
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clock, n.Sel.Name) {
					report(n.Pos(), "a pure package reads the clock: time.%s", n.Sel.Name)
				}
			}
			return true
		})
	}
	return out
}

// TestLayersFailWhenBroken plants one violation of each sort.
func TestLayersFailWhenBroken(t *testing.T) {
	for name, c := range map[string]struct{ room, src, want string }{
		"machine imports a host":   {"runner/machine", `import _ "github.com/flowrun/flowrun/runner/engine/local"`, "may not import"},
		"memory of a foreign kind": {"runner/view", `import _ "example.com/x"`, "may not import"},
		"a command opens a host":   {"cmd/flowrun/internal/app", `import _ "github.com/flowrun/flowrun/runner/engine/local"`, "may not import"},
		"a command opens files":    {"cmd/flowrun/internal/app", `import _ "github.com/flowrun/flowrun/memory/private"`, "may not import"},
		"a look-alike prefix":      {"dsl/expr", `import _ "github.com/expr-lang/exprt"`, "may not import"},
		"a lock in a pure room":    {"dsl/value", `import _ "sync"`, "imports sync"},
		"a lock in a once room":    {"dsl/lazyregexp", `import "sync"; var x sync.Mutex`, "uses sync.Mutex"},
		"the disk in a once room":  {"dsl/lazyregexp", `import _ "os"`, "imports os"},
		"os in a pure room":        {"runner/machine", `import _ "os"`, "imports os"},
		"the clock":                {"runner/policy", `import "time"; var x = time.Now()`, "reads the clock"},
		"a leaf that imports":      {"dsl/limits", `import _ "strings"`, "more than constants"},
		"a goroutine":              {"dsl/value", `func f() { go f() }`, "goroutine"},
		"a channel":                {"runner/plan", `var c chan int`, "channel"},
	} {
		got := violations(token.NewFileSet(), "planted.go", []byte("package p\n"+c.src), rooms(t)[c.room])
		if len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("%s: the wall says %q, want one finding with %q", name, got, c.want)
		}
	}
}

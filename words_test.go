package flowrun_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/loop/backlog"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/policy"
	"github.com/flowrun/flowrun/runner/shared"
)

// words are the types whose values are a closed list of words, each with the list that its package exports.
var words = map[string][]string{
	"dsl/ir.NodeKind":                ir.Texts(ir.NodeKinds),
	"dsl/ir.TriggerRule":             ir.Texts(ir.TriggerRules),
	"dsl/ir.Parse":                   ir.Texts(ir.Parses),
	"dsl/ir.ActionKind":              ir.Texts(ir.ActionKinds),
	"dsl/ir.KVOperation":             ir.Texts(ir.KVOperations),
	"dsl/ir.AgentType":               ir.Texts(ir.AgentTypes),
	"dsl/ir.ChannelType":             ir.Texts(ir.ChannelTypes),
	"dsl/ir.ExprKind":                ir.Texts(ir.ExprKinds),
	"dsl/ir.ErrorKind":               ir.Texts(ir.ErrorKinds),
	"dsl/ir.OnError":                 ir.Texts(ir.OnErrors),
	"dsl/ir.OnLost":                  ir.Texts(ir.OnLosts),
	"dsl/ir.OnExceed":                ir.Texts(ir.OnExceeds),
	"dsl/ir.OnFail":                  ir.Texts(ir.OnFails),
	"dsl/ir.Severity":                ir.Texts(ir.Severities),
	"dsl/ir.Findings":                ir.Texts(ir.AllFindings),
	"dsl/ir.Scan":                    ir.Texts(ir.Scans),
	"dsl/ir.Losers":                  ir.Texts(ir.AllLosers),
	"dsl/ir.JoinWord":                ir.Texts(ir.JoinWords),
	"dsl/ir.WhenBusy":                ir.Texts(ir.WhenBusies),
	"dsl/ir.EndStatus":               ir.Texts(ir.EndStatuses),
	"dsl/ir.Jitter":                  ir.Texts(ir.Jitters),
	"runner/event.Reason":            ir.Texts(event.Reasons),
	"runner/event.TimerPurpose":      ir.Texts(event.TimerPurposes),
	"runner/event.AttemptKind":       ir.Texts(event.AttemptKinds),
	"runner/event.ExternalKind":      {string(event.ExternalCancel), string(event.ExternalCancelNode), string(event.ExternalGranted), string(event.ExternalEvent), string(event.ExternalMetrics), string(event.ExternalDecision), string(event.ExternalWake), string(event.ExternalSession)},
	"dsl/ir.SourceKind":              ir.Texts(ir.SourceKinds),
	"runner/event.SourceVerb":        ir.Texts(event.SourceVerbs),
	"runner/event.ItemStatus":        ir.Texts(event.ItemStatuses),
	"runner/event.ClaimOperation":    ir.Texts(event.ClaimOperations),
	"runner/event.ClaimState":        ir.Texts(event.ClaimStates),
	"runner/event.Queue":             ir.Texts(event.Queues),
	"runner/event.DispatchOperation": ir.Texts(event.DispatchOperations),
	"runner/event.LoopOperation":     ir.Texts(event.LoopOperations),
	"runner/event.WakeKind":          ir.Texts(event.WakeKinds),
	"runner/event.MessageKind":       ir.Texts(event.MessageKinds),
	"runner/event.NeedKind":          ir.Texts(event.NeedKinds),
	"runner/event.AskKind":           ir.Texts(event.AskKinds),
	"runner/event.Word":              ir.Texts(event.Words),
	"dsl/ir.Verdict":                 ir.Texts(ir.Verdicts),
	"runner/shared.Outcome":          ir.Texts(shared.Outcomes),
	"runner/event.WaitKind":          ir.Texts(event.WaitKinds),
	"runner/event.Outcome":           ir.Texts(event.Outcomes),
	"runner/engine.WhenBusy":         ir.Texts(engine.WhenBusies),
	"runner/shared.Health":           ir.Texts(shared.Healths),
	"runner/shared.Ending":           ir.Texts(shared.Endings),
	"loop/backlog.Status":            ir.Texts(backlog.Statuses),
	"runner/policy.Jitter":           {string(policy.None), string(policy.Full), string(policy.Equal)},
}

// Packages that may not import each other repeat some of the lists.
func TestListsThatRepeatWordsAreEqual(t *testing.T) {
	in := func(block, attr string) []string {
		if b := schema.Blocks[block]; b != nil && b.Attr(attr) != nil {
			return b.Attr(attr).Words
		}
		t.Fatalf("the schema has no attribute %s of %s", attr, block)
		return nil
	}
	for name, have := range map[string][]string{
		"dsl/ir.WhenBusy":    ir.Texts(engine.WhenBusies),
		"dsl/ir.Jitter":      words["runner/policy.Jitter"],
		"dsl/ir.OnError":     in("step", "on_error"),
		"dsl/ir.OnLost":      in("step", "on_lost"),
		"dsl/ir.TriggerRule": in("step", "trigger_rule"),
		"dsl/ir.Losers":      in("parallel", "losers"),
		"dsl/ir.JoinWord":    in("parallel", "join"),
		"dsl/ir.OnFail":      in("gate", "on_fail"),
		"dsl/ir.Severity":    in("review", "block"),
		"dsl/ir.Findings":    in("gate", "findings"),
		"dsl/ir.ErrorKind":   in("fail", "kind"),
		"dsl/ir.EndStatus":   in("end", "status"),
		"dsl/ir.AgentType":   in("agent", "type"),
		"dsl/ir.ChannelType": in("channel", "type"),
	} {
		if have = slices.Sorted(slices.Values(have)); !slices.Equal(have, slices.Sorted(slices.Values(words[name]))) {
			t.Errorf("%s has the words %q, the list that repeats them is %q", name, words[name], have)
		}
	}
}

// TestWordsAreConstants checks all code of flowrun but tests: the exported list of a type holds all of its constants and no others,
// a word is written as its constant, a switch over words names each of them, and no word becomes a member of an object of the
// language, whose values are plain strings.
func TestWordsAreConstants(t *testing.T) {
	w := readPackages(t)
	seen := map[string]bool{}
	for _, p := range w.packages {
		if strings.HasSuffix(p.ImportPath, "/enginetest") {
			continue // a suite of tests, which also sends words that do not exist
		}
		for _, v := range w.check(t, p, seen) {
			t.Error(v)
		}
	}
	for name := range words {
		if !seen[name] {
			t.Errorf("no package declares %s", name)
		}
	}
}

// TestWordsAreChecked plants one breach of each rule.
func TestWordsAreChecked(t *testing.T) {
	w := readPackages(t)
	for name, src := range map[string]string{
		"a text in place of":  `var r = event.Error{Reason: "timeout"}`,
		"a text in place of ": `func f(n *ir.Node) bool { return n.OnError == "stop" }`,
		"does not name": `func f(p event.TimerPurpose) { switch p { case event.TimerWait: default: panic(p) } }
			var _ ir.Node`,
		"the table of dsl/ir.OnLost does not have retry": `var t = map[ir.OnLost]int{ir.OnLostFail: 1}`,
		"is a member of an object":                       `func f(e *event.Error) any { return map[string]any{"kind": e.Kind} }; var _ ir.Node`,
		"":                                               `func f(o ir.OnLost) bool { switch o { case "", ir.OnLostRetry: case ir.OnLostFail: return true }; return o == "" }; var _ event.Error`,
	} {
		src = "package p\nimport (\"github.com/flowrun/flowrun/dsl/ir\"; \"github.com/flowrun/flowrun/runner/event\")\nvar _ ir.Program; var _ event.Event\n" + src
		file := filepath.Join(t.TempDir(), "planted.go")
		if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		got := w.check(t, listed{ImportPath: "p", Dir: filepath.Dir(file), GoFiles: []string{"planted.go"}}, map[string]bool{})
		if name == "" && got != nil || name != "" && (len(got) != 1 || !strings.Contains(got[0], strings.TrimSpace(name))) {
			t.Errorf("%q: found %q", name, got)
		}
	}
}

type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	Standard                bool
}

type wordCheck struct {
	fset     *token.FileSet
	imports  types.Importer
	packages []listed
}

// readPackages lists the packages of flowrun, with the compiler's export data of all that they import.
func readPackages(t *testing.T) *wordCheck {
	t.Helper()
	out, err := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Standard", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	w, exports := &wordCheck{fset: token.NewFileSet()}, map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if exports[p.ImportPath] = p.Export; strings.HasPrefix(p.ImportPath, module) {
			w.packages = append(w.packages, p)
		}
	}
	w.imports = importer.ForCompiler(w.fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(exports[path])
	})
	return w
}

// nameOf is the name of a type of words, as the table has it, or "".
func nameOf(t types.Type) string {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return ""
	}
	name := strings.TrimPrefix(n.Obj().Pkg().Path(), module) + "." + n.Obj().Name()
	if words[name] == nil {
		return ""
	}
	return name
}

func (w *wordCheck) check(t *testing.T, p listed, seen map[string]bool) (out []string) {
	t.Helper()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(w.fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	pkg, err := (&types.Config{Importer: w.imports}).Check(p.ImportPath, w.fset, files, info)
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string][]string{}
	for _, name := range pkg.Scope().Names() {
		if c, ok := pkg.Scope().Lookup(name).(*types.Const); ok {
			if of := nameOf(c.Type()); strings.HasPrefix(of, strings.TrimPrefix(pkg.Path(), module)+".") {
				declared[of] = append(declared[of], constant.StringVal(c.Val()))
			}
		}
	}
	for of, have := range declared {
		seen[of] = true
		if have = slices.Compact(slices.Sorted(slices.Values(have))); !slices.Equal(have, slices.Sorted(slices.Values(words[of]))) {
			out = append(out, fmt.Sprintf("%s has the constants %q and the list %q", of, have, words[of]))
		}
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			say := func(format string, args ...any) {
				out = append(out, w.fset.Position(n.Pos()).String()+": "+fmt.Sprintf(format, args...))
			}
			switch n := n.(type) {
			case *ast.ValueSpec: // the constants themselves
				if n.Type != nil && len(n.Values) > 0 && nameOf(info.Types[n.Type].Type) != "" {
					return false
				}
			case *ast.BasicLit:
				if of := nameOf(info.Types[n].Type); of != "" && n.Value != `""` {
					say("%s is a text in place of a constant of %s", n.Value, of)
				}
			case *ast.CompositeLit:
				m, ok := info.Types[n].Type.Underlying().(*types.Map)
				if !ok {
					return true
				}
				if of := nameOf(m.Key()); of != "" && len(n.Elts) > 0 {
					var keys []ast.Expr
					for _, e := range n.Elts {
						keys = append(keys, e.(*ast.KeyValueExpr).Key)
					}
					if missing := unnamed(info, of, keys); missing != "" {
						say("the table of %s does not have %s", of, missing)
					}
				}
				if !types.IsInterface(m.Elem()) {
					return true
				}
				for _, e := range n.Elts {
					if kv, ok := e.(*ast.KeyValueExpr); ok && nameOf(info.Types[kv.Value].Type) != "" {
						say("a word of %s is a member of an object: make it a string", nameOf(info.Types[kv.Value].Type))
					}
				}
			case *ast.SwitchStmt:
				if n.Tag == nil || nameOf(info.Types[n.Tag].Type) == "" {
					return true
				}
				var named []ast.Expr
				for _, c := range n.Body.List {
					named = append(named, c.(*ast.CaseClause).List...)
				}
				of := nameOf(info.Types[n.Tag].Type)
				if missing := unnamed(info, of, named); missing != "" {
					say("the switch over %s does not name %s", of, missing)
				}
			}
			return true
		})
	}
	return out
}

// unnamed lists the words of a type that are not among the expressions.
func unnamed(info *types.Info, of string, named []ast.Expr) string {
	missing := map[string]bool{}
	for _, word := range words[of] {
		missing[word] = true
	}
	for _, e := range named {
		if v := info.Types[e].Value; v != nil {
			delete(missing, constant.StringVal(v))
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(missing)), ", ")
}

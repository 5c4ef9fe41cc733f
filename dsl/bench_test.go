package dsl

import (
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	exprlang "github.com/expr-lang/expr"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// wide is a file of n steps, each with a dependency and a condition on the one before.
func wide(n int) string {
	var b strings.Builder
	b.WriteString("workflow \"w0\" {\n  input \"tags\" {\n    type    = list(string)\n    default = []\n  }\n")
	for s := 0; s < n; s++ {
		fmt.Fprintf(&b, "  step \"s%d\" {\n    run  = [\"/bin/echo\", \"hello %d\"]\n", s, s)
		if s > 0 {
			fmt.Fprintf(&b, "    depends_on = [step.s%d]\n    when = \"step.s%d.exit_code == 0 && len(input.tags) >= %d\"\n", s-1, s-1, s%7)
		}
		b.WriteString("  }\n")
	}
	return b.String() + "}\n"
}

// chain is a file of n values, each of the one before.
func chain(n int) string {
	var b strings.Builder
	b.WriteString("workflow \"w\" {\n  step \"s0\" { value = 0 }\n")
	for s := 1; s < n; s++ {
		fmt.Fprintf(&b, "  step \"s%d\" { value = step.s%d.output + 1 }\n", s, s-1)
	}
	return b.String() + "}\n"
}

// The cost of a step does not depend on how many others there are. Bytes are counted, not time, because they are the
// same on every machine; a step may cost a quarter more in the large file, for tables that double.
func TestGrowth(t *testing.T) {
	for name, shape := range map[string]func(int) string{
		"wide": wide, "chain": chain,
		"groups": func(n int) string { return "workflow \"w\" {\n" + groups(n/2) + "}\n" },
	} {
		cost := func(n int) float64 {
			fsys := fstest.MapFS{"w.hcl": {Data: []byte(shape(n))}}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			p, list := Load(fsys, "w.hcl", Options{})
			runtime.ReadMemStats(&after)
			if p.IR == nil {
				t.Fatal(render(list, p.Sources))
			}
			return float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
		}
		small, large := cost(500), cost(4000)
		t.Logf("%s: %.0f and %.0f bytes a step", name, small, large)
		if large > 1.25*small {
			t.Errorf("%s: a step costs %.0f bytes among 500, and %.0f among 4000", name, small, large)
		}
	}
}

// BenchmarkLoad, BenchmarkCheck and BenchmarkFloor show what a step costs in programs of 10 to 100,000:
//
//	go test ./dsl -run '^$' -bench 'Load|Check|Floor' -benchtime 3x
//
// The floor is what reading such a file takes at the least with the libraries alone: HCL's parser for the whole, and
// expr-lang's compiler for each condition.
func BenchmarkLoad(b *testing.B) {
	growth(b, func(fsys fs.FS) bool {
		p, _ := Load(fsys, "w.hcl", Options{})
		return p.IR != nil
	})
}

func BenchmarkCheck(b *testing.B) {
	growth(b, func(fsys fs.FS) bool {
		p, _ := Check(fsys, "w.hcl", Options{})
		return p.Nodes > 0
	})
}

func BenchmarkFloor(b *testing.B) {
	growth(b, func(fsys fs.FS) bool {
		src, _ := fs.ReadFile(fsys, "w.hcl")
		f, problems := hclsyntax.ParseConfig(src, "w.hcl", hcl.InitialPos)
		for _, step := range f.Body.(*hclsyntax.Body).Blocks[0].Body.Blocks {
			if when := step.Body.Attributes["when"]; when != nil {
				text, _ := when.Expr.Value(nil)
				if _, err := exprlang.Compile(text.AsString(), exprlang.AsBool()); err != nil {
					return false
				}
			}
		}
		return !problems.HasErrors()
	})
}

func growth(b *testing.B, load func(fs.FS) bool) {
	for _, n := range []int{10, 100, 1000, 10000, 100000} {
		fsys := fstest.MapFS{"w.hcl": {Data: []byte(wide(n))}}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for b.Loop() {
				if !load(fsys) {
					b.Fatal("refused")
				}
			}
			runtime.ReadMemStats(&after)
			steps := float64(b.N * n)
			b.ReportMetric(float64(b.Elapsed().Microseconds())/steps, "us/step")
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/steps, "B/step")
		})
	}
}

// BenchmarkManyPlaces reads 2,000 stubs beside 20,000 nodes that they could mean.
func BenchmarkManyPlaces(b *testing.B) {
	var program, tests strings.Builder
	program.WriteString("workflow \"w\" {\n")
	tests.WriteString("test \"one\" {\n  expect = [\"live == 0\"]\n")
	for i := range 2000 {
		fmt.Fprintf(&program, "  step \"s%d\" { run = [\"true\"] }\n", i)
		fmt.Fprintf(&tests, "  step \"s%d\" { replies = [{ stdout = \"\" }] }\n", i)
	}
	for i := range 9 {
		fmt.Fprintf(&program, "  step \"c%d\" { call = workflow.x }\n", i)
	}
	program.WriteString("}\nworkflow \"x\" {\n")
	for i := range 2000 {
		fmt.Fprintf(&program, "  step \"t%d\" { run = [\"true\"] }\n", i)
	}
	program.WriteString("}\n")
	tests.WriteString("  workflow = workflow.w\n}\n")
	fsys := fstest.MapFS{"p.flow.hcl": {Data: []byte(program.String())}, "p.flowtest.hcl": {Data: []byte(tests.String())}}
	for b.Loop() {
		if loaded, list := LoadTests(fsys, "p.flowtest.hcl", Options{}); len(list) > 0 || len(loaded.Tests[0].Stubs) != 2000 {
			b.Fatal(list)
		}
	}
}

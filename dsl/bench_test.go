package dsl

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
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

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{10, 1000, 10000} {
		fsys := fstest.MapFS{"w.hcl": {Data: []byte(wide(n))}}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if p, list := Load(fsys, "w.hcl", Options{}); p.IR == nil {
					b.Fatal(list)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "us/step")
		})
	}
}

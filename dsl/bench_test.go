package dsl

import (
	"fmt"
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

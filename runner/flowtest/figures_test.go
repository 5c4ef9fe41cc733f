package flowtest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/runner/flowtest"
)

// load makes tests of two texts.
func load(t testing.TB, program, tests string) (*flowtest.Program, *dsl.Tests) {
	t.Helper()
	fsys := fstest.MapFS{"w.flow.hcl": {Data: []byte(program)}, "w.flowtest.hcl": {Data: []byte(tests)}}
	loaded, list := dsl.LoadTests(fsys, "w.flowtest.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	return flowtest.NewProgram(loaded.IR), loaded
}

// BenchmarkThousandCases reads and runs a file of 1,000 tests of 10 steps.
func BenchmarkThousandCases(b *testing.B) {
	var program, tests strings.Builder
	program.WriteString("workflow \"w\" {\n  input \"n\" { type = number }\n  step \"s0\" { run = [\"x\", \"--\", input.n] }\n")
	for i := 1; i < 10; i++ {
		fmt.Fprintf(&program, "  step \"s%d\" {\n    run = [\"x\", \"--\", step.s%d.output]\n    retry {\n      max_attempts = 2\n    }\n  }\n", i, i-1)
	}
	program.WriteString("}\n")
	for i := range 1000 {
		fmt.Fprintf(&tests, "test \"case %d\" {\n  inputs = { n = %d }\n", i, i)
		for k := range 10 {
			fmt.Fprintf(&tests, "  step \"s%d\" { replies = [{ stdout = \"%d\", takes = \"1s\" }] }\n", k, k)
		}
		fmt.Fprintf(&tests, "  expect = [\"run.status == 'succeeded'\", \"calls.s0[0].command == ['x', '--', '%d']\", \"before('s0', 's9') && elapsed == 10\"]\n}\n", i)
	}
	for b.Loop() {
		p, loaded := load(b, program.String(), tests.String())
		for i := range loaded.Tests {
			if r := flowtest.Run(context.Background(), p, &loaded.Tests[i]); !r.Passed() {
				b.Fatal(r.Failures)
			}
		}
	}
}

const month = `workflow "w" {
  step "poll" {
    run = ["poll"]
    retry {
      max_attempts = 721
      base_delay   = "1h"
      max_delay    = "1h"
      multiplier   = 1
      jitter       = "none"
    }
  }
}
`

const monthTest = `test "thirty days" {
  step "poll" { replies = [{ exit_code = 75 }] }
  expect = ["elapsed == 30 * 24 * 3600", "step.poll.attempts == 721"]
}
`

// BenchmarkThirtyDays runs a test in which an attempt is made every hour for 30 days.
func BenchmarkThirtyDays(b *testing.B) {
	p, loaded := load(b, month, monthTest)
	for b.Loop() {
		if r := flowtest.Run(context.Background(), p, &loaded.Tests[0]); !r.Passed() {
			b.Fatal(r.Failures)
		}
	}
}

// BenchmarkManyRuns reads and runs a test of many runs that share a key and a group.
func BenchmarkManyRuns(b *testing.B) {
	for _, n := range []int{64, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				p, loaded := load(b, strings.Replace(grouped, "BUSY", "queue", 1), crowd(n))
				if r := flowtest.Run(context.Background(), p, &loaded.Tests[0]); !r.Passed() {
					b.Fatal(r.Failures)
				}
			}
		})
	}
}

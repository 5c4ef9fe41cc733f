package flowtest_test

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

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

var figures = flag.Bool("flowtest.figures", false, "measure the CPU time of 1,000 tests, and of one whose run lasts 30 days")

// TestFigures: 1,000 tests of 10 steps take less than 10 s of CPU time, and a test of 30 days with retries less than 50 ms.
//
// go test ./runner/flowtest -run TestFigures -flowtest.figures -v
func TestFigures(t *testing.T) {
	if !*figures {
		t.Skip("takes seconds; run it with -flowtest.figures")
	}
	cpu := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	thirtyDays := func() { passes(t, month, monthTest) }
	thirtyDays() // the first run of a process prepares what all share
	for _, c := range []struct {
		what string
		most time.Duration
		do   func()
	}{
		{"1,000 tests of 10 steps", 10 * time.Second, func() { passes(t, tenSteps(), thousandCases()) }},
		{"a test of 30 days", 50 * time.Millisecond, thirtyDays},
	} {
		before := cpu()
		c.do()
		took := cpu() - before
		if t.Logf("%s: %v of CPU time", c.what, took); took > c.most {
			t.Errorf("%s: %v of CPU time; %v wanted", c.what, took, c.most)
		}
	}
}

// passes reads and runs a file of tests.
func passes(t testing.TB, program, tests string) {
	p, loaded := load(t, program, tests)
	for i := range loaded.Tests {
		if r := flowtest.Run(context.Background(), p, &loaded.Tests[i]); !r.Passed() {
			t.Fatal(r.Failures)
		}
	}
}

func tenSteps() string {
	var program strings.Builder
	program.WriteString("workflow \"w\" {\n  input \"n\" { type = number }\n  step \"s0\" { run = [\"x\", \"--\", input.n] }\n")
	for i := 1; i < 10; i++ {
		fmt.Fprintf(&program, "  step \"s%d\" {\n    run = [\"x\", \"--\", step.s%d.output]\n    retry {\n      max_attempts = 2\n    }\n  }\n", i, i-1)
	}
	program.WriteString("}\n")
	return program.String()
}

func thousandCases() string {
	var tests strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&tests, "test \"case %d\" {\n  inputs = { n = %d }\n", i, i)
		for k := range 10 {
			fmt.Fprintf(&tests, "  step \"s%d\" { replies = [{ stdout = \"%d\", takes = \"1s\" }] }\n", k, k)
		}
		fmt.Fprintf(&tests, "  expect = [\"run.status == 'succeeded'\", \"calls.s0[0].command == ['x', '--', '%d']\", \"before('s0', 's9') && elapsed == 10\"]\n}\n", i)
	}
	return tests.String()
}

// BenchmarkThousandCases reads and runs a file of 1,000 tests of 10 steps.
func BenchmarkThousandCases(b *testing.B) {
	program, tests := tenSteps(), thousandCases()
	for b.Loop() {
		passes(b, program, tests)
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

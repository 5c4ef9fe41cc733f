package forecast

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/durations"
	"github.com/flowrun/flowrun/runner/plan"
)

func graph(t testing.TB, source string) *plan.Graph {
	t.Helper()
	p, list := dsl.Load(fstest.MapFS{"x.hcl": {Data: []byte(source)}}, "x.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	g, err := plan.Build(p.IR, p.IR.Workflows[0].Name)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// literals computes what reads nothing.
func literals(e *ir.Expr) (value.Value, bool) {
	if len(e.Reads) > 0 {
		return nil, false
	}
	v, err := expr.NewEvaluator(ir.NewestRules()).Eval(e, nil)
	return v, err == nil
}

// took makes expectations of words such as a=3 or each=2x10: 10 executions of 2 s.
func took(words string) durations.Expected {
	x := durations.Expected{US: map[string]int64{}, Times: map[string]int{}}
	for _, w := range strings.Fields(words) {
		name, rest, _ := strings.Cut(w, "=")
		var s float64
		var n int
		if k, _ := fmt.Sscanf(rest, "%fx%d", &s, &n); k == 2 {
			x.Times[name] = n
		}
		if s > 0 {
			x.US[name] = int64(s * 1e6)
		}
	}
	return x
}

func TestForecast(t *testing.T) {
	for _, c := range []struct {
		name, source, expected string
		parallel               int
		want                   string
	}{
		{"a chain", `
  step "a" { run = ["true"] }
  step "b" {
    run        = ["true"]
    depends_on = [step.a]
  }
  step "c" { run = ["true"] }`, "a=1 b=2 c=2.5", 0, "3s chain=a,b 3s 3/3"},
		{"the longest way first", `
  step "x" { run = ["true"] }
  step "y" { run = ["true"] }
  step "a" { run = ["true"] }
  step "b" {
    run        = ["true"]
    depends_on = [step.a]
  }`, "x=3 y=3 a=1 b=5", 2, "6s chain=a,b 6s 4/4"},
		{"instances share the slots, of a group and of an agent too", `
  step "e" {
    for_each = input.list
    run      = ["true"]
  }
  parallel "p" {
    max_concurrency = 1
    depends_on      = [step.e]
    step "f" { run = ["true"] }
    step "g" { run = ["true"] }
  }
  step "h" {
    agent      = agent.one
    for_each   = [1, 2, 3]
    depends_on = [step.p]
  }`, "e=1x10 f=2 g=3 h=7x99", 4, "29s chain=e,g,h 12.5s 4/4"},
		{"conditions, cases, iterations, waits, finally", `
  step "never" {
    when = "1 > 2"
    run  = ["true"]
  }
  step "seldom" {
    when = "input.list == []"
    run  = ["true"]
  }
  switch "s" {
    case {
      when = "len(input.list) > 3"
      step "one" { run = ["true"] }
    }
    default {
      step "other" { run = ["true"] }
    }
  }
  step "again" {
    run        = ["true"]
    depends_on = [step.s]
    repeat { max = 50 }
  }
  step "pause" {
    wait { duration = "3s" }
    depends_on = [step.again]
  }
  step "new" {
    run        = ["true"]
    depends_on = [step.pause]
  }
  finally {
    step "last" { run = ["true"] }
  }`, "one=1 again=2x4 pause=3 last=10", 0, "25s chain=one,again,pause,new 15s 4/8"},
		{"only the first of a race counts", `
  parallel "race" {
    join = "any"
    step "slow" { run = ["true"] }
    step "quick" { run = ["true"] }
  }
  step "then" {
    run        = ["true"]
    depends_on = [step.race]
  }`, "slow=100 quick=1 then=1", 0, "2s chain=slow,then 101s 3/3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := graph(t, `
agent "one" {
  type        = "null"
  concurrency = 1
}
workflow "w" {
  input "list" { type = list(any) }
`+c.source+"\n}\n")
			f := Of(g, literals, took(c.expected), 3, c.parallel)
			seconds := "none"
			if f.Seconds != nil {
				seconds = fmt.Sprint(*f.Seconds, "s")
			}
			have := fmt.Sprintf("%s chain=%s %vs %d/%d", seconds, strings.Join(f.Chain, ","), f.ChainSeconds, f.Known, f.Steps)
			if have != c.want {
				t.Errorf("forecast %s, want %s", have, c.want)
			}
		})
	}
}

func TestForecastIsBounded(t *testing.T) {
	g := graph(t, `
workflow "w" {
  parallel "p" {
    for_each = range(1000)
    step "s" {
      for_each = range(1000)
      run      = ["true"]
    }
  }
}
`)
	if f := Of(g, literals, took("s=1"), 1, 0); f.Seconds != nil || f.Known != 1 {
		t.Errorf("a million executions are forecast: %+v", f)
	}
	if f := Of(g, literals, durations.Expected{}, 0, 0); f.Seconds != nil || f.Known != 0 || f.Steps != 0 {
		t.Errorf("without earlier runs there is %+v", f)
	}
}

// What plan pays: the rehearsal of a run of so many steps, at once or in a chain.
func BenchmarkOf(b *testing.B) {
	for _, chained := range []bool{false, true} {
		for _, n := range []int{100, 1000, 10_000} {
			x := durations.Expected{US: map[string]int64{}}
			w := ir.Workflow{Name: "w"}
			for i := range n {
				s := ir.Node{Name: fmt.Sprint("s", i), Kind: ir.Step, Action: &ir.Run{}}
				if chained && i > 0 {
					s.Needs = []string{w.Nodes[i-1].Name}
				}
				x.US[s.Name] = int64(1000 + i%77)
				w.Nodes = append(w.Nodes, s)
			}
			g, err := plan.Build(&ir.Program{Workflows: []ir.Workflow{w}}, "w")
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("chained=%t/%d", chained, n), func(b *testing.B) {
				for b.Loop() {
					if f := Of(g, literals, x, 1, 0); f.Seconds == nil {
						b.Fatal("no forecast")
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/step")
			})
		}
	}
}

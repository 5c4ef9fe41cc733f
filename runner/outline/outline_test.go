package outline

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
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

func TestWavesFollowWaitsThroughGroups(t *testing.T) {
	o := Of(graph(t, `
workflow "w" {
  step "a" { run = ["true"] }
  parallel "p" {
    step "b" { value = step.a.output }
    step "c" { run = ["true"] }
    sequence "s" {
      step "d" { run = ["true"] }
      step "e" { run = ["true"] }
    }
  }
  step "f" {
    run        = ["true"]
    depends_on = [step.p]
  }
  step "g" { run = ["true"] }
}`), literals)
	got, _ := json.Marshal(o.Waves)
	if want := `[["a","p/c","p/s/d","g"],["p/b","p/s/e"],["f"]]`; string(got) != want {
		t.Errorf("waves are %s, want %s", got, want)
	}
	if got, want := strings.Join(o.Critical, " "), "a p/b f"; got != want {
		t.Errorf("the critical path is %s, want %s", got, want)
	}
	if o.Attempts == nil || *o.Attempts != 7 {
		t.Errorf("%v attempts at most, want 7", o.Attempts)
	}
}

func TestAttemptsAreAProduct(t *testing.T) {
	g := graph(t, `
agent "x" {
  type = "null"
  retry { max_attempts = 5 }
}
workflow "w" {
  input "many" { type = list(string) }
  retry { max_attempts = 2 }
  step "plain" { run = ["true"] }
  step "own" {
    run = ["true"]
    retry { max_attempts = 4 }
  }
  step "each" {
    agent    = agent.x
    for_each = ["a", "b", "c"]
  }
  step "unknown" {
    run      = ["true"]
    for_each = input.many
  }
  step "maybe" {
    run  = ["true"]
    when = "len(input.many) > 3"
  }
  step "never" {
    run  = ["true"]
    when = "1 > 3"
  }
}`)
	var got []string
	for _, s := range Of(g, literals).Steps {
		attempts := "?"
		if s.Attempts != nil {
			attempts = fmt.Sprint(*s.Attempts)
		}
		got = append(got, s.Node+"="+attempts)
	}
	if got, want := strings.Join(got, " "), "plain=2 own=4 each=15 unknown=? maybe=2 never=0"; got != want {
		t.Errorf("attempts at most:\n%s, want\n%s", got, want)
	}
	o := Of(g, literals)
	if o.Attempts != nil || len(o.Unknown) != 1 || o.Unknown[0] != "unknown" {
		t.Errorf("the sum is %v, unknown is %v", o.Attempts, o.Unknown)
	}
	known := Of(g, func(e *ir.Expr) (value.Value, bool) {
		if e.Text == "input.many" {
			return []any{"x", "y"}, true
		}
		return literals(e)
	})
	if known.Attempts == nil || *known.Attempts != 2+4+15+2*2+2 {
		t.Errorf("with the input known the sum is %v", known.Attempts)
	}
}

// The cost grows with the nodes: a long chain is no deeper problem than a short one.
func BenchmarkOf(b *testing.B) {
	for _, n := range []int{10, 100, 10_000} {
		var s strings.Builder
		s.WriteString("workflow \"w\" {\nsequence \"s\" {\n")
		for i := range n {
			fmt.Fprintf(&s, "step \"s%d\" { value = 1 }\n", i)
		}
		s.WriteString("}\n}\n")
		g := graph(b, s.String())
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				Of(g, nil)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/step")
		})
	}
}

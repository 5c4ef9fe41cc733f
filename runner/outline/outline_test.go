package outline

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
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
	if o.Attempts == nil || *o.Attempts != 6 { // a value is not an attempt
		t.Errorf("%v attempts at most, want 6", o.Attempts)
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

// The worst case counts what a run counts as attempts; a budget bounds what is not known, and each called run has its bound for itself.
func TestWorstCase(t *testing.T) {
	most := Used{"a": {Tokens: 10, CostUSD: 1}, "b": {Tokens: 100, CostUSD: 3}}
	for _, c := range []struct{ name, nodes, want string }{
		{"values make none", `step "s" { value = 1 }`, `{"attempts":0,"attempts_known":0,"tokens":0,"cost_usd":0}`},
		{"agents add up", `step "s" {
    agent    = agent.a
    fallback = [agent.b]
    retry { max_attempts = 2 }
  }`, `{"attempts":4,"attempts_known":4,"tokens":220,"cost_usd":8}`},
		{"one case of a switch", `switch "s" {
    case {
      when = "run.id == ''"
      step "x" {
        run = ["x"]
        retry { max_attempts = 5 }
      }
    }
    default {
      step "y" { run = ["y"] }
    }
  }`, `{"attempts":5,"attempts_known":5,"tokens":0,"cost_usd":0}`},
		{"a number that is not known", `step "s" {
    for_each = input.many
    run      = ["x"]
    repeat { max = 3 }
  }`, `{"attempts":null,"attempts_known":0,"attempts_each":[{"node":"s","attempts":3}],"tokens":null,"cost_usd":null}`},
		{"a budget", `step "s" {
    for_each = input.many
    agent    = agent.a
    budget { attempts = 7 }
  }`, `{"attempts":7,"attempts_known":7,"tokens":70,"cost_usd":7}`},
		{"a budget of dollars is exceeded by what is in flight", `step "s" {
    for_each = range(1000)
    agent    = agent.b
    budget { cost_usd = 5 }
  }`, `{"attempts":1000,"attempts_known":1000,"tokens":100000,"cost_usd":29}`},
		{"a budget around a call", `sequence "q" {
    budget { attempts = 3 }
    step "s" { call = workflow.z }
  }`, `{"attempts":3,"attempts_known":3,"tokens":0,"cost_usd":0}`},
		{"a budget that stops nothing", `step "s" {
    run = ["x"]
    retry { max_attempts = 9 }
    budget {
      attempts  = 2
      on_exceed = "warn"
    }
  }`, `{"attempts":9,"attempts_known":9,"tokens":0,"cost_usd":0}`},
		{"called runs that nobody can count, in a budget", `parallel "p" {
    budget { attempts = 9 }
    step "s" {
      for_each = input.many
      call     = workflow.z
    }
    step "t" { agent = agent.a }
  }`, `{"attempts":9,"attempts_known":9,"tokens":90,"cost_usd":9}`},
		{"calls in a budget that would make more together", `parallel "p" {
    budget { attempts = 60 }
    step "s" { call = workflow.z }
    step "t" { call = workflow.z }
  }`, `{"attempts":60,"attempts_known":60,"tokens":0,"cost_usd":0}`},
		{"rules of adapt start a workflow, nobody knows how often", `adapt {
    when     = "metrics.failed > 1"
    workflow = workflow.z
  }
  budget { attempts = 7 }
  parallel "p" {
    adapt {
      when            = "metrics.failed > 2"
      max_concurrency = 2
      workflow        = workflow.z
    }
    step "s" { run = ["x"] }
  }`, `{"attempts":7,"attempts_known":7,"tokens":0,"cost_usd":0}`},
		{"gates beside the work that they judge", `step "s" {
    run   = ["x"]
    gates = [gate.probe, gate.look]
    retry { max_attempts = 2 }
  }
  step "each" {
    for_each = input.many
    run      = ["x"]
    gates    = [gate.probe]
  }
  switch "which" {
    case {
      when = "run.id == ''"
      step "two" {
        run   = ["x"]
        gates = [gate.probe]
      }
    }
    default {
      step "three" {
        run = ["x"]
        retry { max_attempts = 3 }
      }
    }
  }`, `{"attempts":null,"attempts_known":9,"attempts_of_gates":4,"attempts_each":[{"node":"each","attempts":2,"attempts_of_gates":1}],"tokens":null,"cost_usd":null}`},
		{"a budget that cuts work and gates says nothing about either", `step "s" {
    run   = ["x"]
    gates = [gate.probe]
    retry { max_attempts = 9 }
    budget { attempts = 5 }
  }`, `{"attempts":5,"attempts_known":5,"tokens":0,"cost_usd":0}`},
		{"a wait makes no attempts, and its gates one each time", `step "s" {
    wait { event = "job" }
    retry { max_attempts = 4 }
    gate "good" {
      run     = ["good"]
      on_fail = "retry"
    }
  }
  step "t" {
    approve { prompt = "?" }
    gates = [gate.probe]
  }`, `{"attempts":5,"attempts_known":5,"attempts_of_gates":5,"tokens":0,"cost_usd":0}`},
		{"a group is undone once for each instance and iteration", `sequence "s" {
    for_each = ["x", "y"]
    repeat { max = 3 }
    step "t" { value = 1 }
    compensate { run = ["undo"] }
  }`, `{"attempts":6,"attempts_known":6,"tokens":0,"cost_usd":0}`},
		{"an agent that nobody knows", `step "s" { agent = agent.c }`, `{"attempts":1,"attempts_known":1,"tokens":null,"cost_usd":null,"agents_without_usage":["c"]}`},
	} {
		g := graph(t, `
agent "a" {
  type    = "exec"
  command = ["a"]
}
agent "b" {
  type    = "exec"
  command = ["b"]
}
agent "c" {
  type    = "exec"
  command = ["c"]
}
gate "probe" { run = ["true"] }
gate "look" {
  review {
    agent = agent.a
  }
}
workflow "w" {
  input "many" { type = list(string) }
  `+c.nodes+`
}
workflow "z" {
  step "k" {
    run = ["x"]
    repeat { max = 50 }
  }
}`)
		have, err := json.Marshal(WorstOf(g, literals, most, 0))
		if err != nil || string(have) != c.want {
			t.Errorf("%s: %s (%v), want %s", c.name, have, err, c.want)
		}
	}
}

// The rules of adapt are listed as the file has them.
func TestRulesAreListed(t *testing.T) {
	o := Of(graph(t, `
channel "team" { type = "bell" }
workflow "w" {
  adapt {
    when            = "metrics.queued > 3"
    max_concurrency = metrics.limit + 2
    cooldown        = "1m"
  }
  sequence "s" {
    parallel "p" {
      adapt {
        when     = "metrics.failed > 2"
        workflow = workflow.z
      }
      adapt {
        when            = "metrics.cpu > 80"
        until           = "metrics.cpu < 60"
        for             = "10s"
        max_concurrency = 2
      notify          = [channel.team]
      }
      step "a" { run = ["true"] }
    }
  }
}
workflow "z" {
  step "a" { run = ["true"] }
}`), literals)
	want := []Rule{
		{Number: 1, When: "metrics.queued > 3", MaxConcurrency: "metrics.limit + 2", Cooldown: "1m"},
		{Node: "s/p", Number: 1, When: "metrics.failed > 2", Workflow: "z"},
		{Node: "s/p", Number: 2, When: "metrics.cpu > 80", Until: "metrics.cpu < 60", For: "10s", MaxConcurrency: "2", Notify: []string{"team"}},
	}
	if !slices.EqualFunc(o.Rules, want, func(a, b Rule) bool { return reflect.DeepEqual(a, b) }) {
		t.Errorf("%+v, want %+v", o.Rules, want)
	}
}

package outline

import (
	"encoding/json"
	"testing"
)

// The outline names what bounds a run: budgets, quotas, agents with bounds, and pools with the capabilities of their members.
func TestSharedThings(t *testing.T) {
	o := Of(graph(t, `
quota "gpu" { capacity = 2 }
quota "api" {
  rate_limit {
    requests = 100
    per      = "1m"
  }
  circuit_breaker {}
}
quota "unused" { capacity = 1 }
agent "ben" {
  type         = "exec"
  command      = ["x"]
  capabilities = ["go"]
  concurrency  = 1
  quota        = quota.api
}
agent "ada" {
  type    = "exec"
  command = ["x"]
}
pool "team" { members = [agent.ben, agent.ada] }
workflow "w" {
  budget { attempts = 20 }
  step "code" {
    agent        = pool.team
    capabilities = ["go"]
  }
  sequence "train" {
    quota = { gpu = 2 }
    budget { cost_usd = 2.5 }
    step "fit" { run = ["true"] }
    step "ask" {
      run   = ["true"]
      quota = quota.api
    }
  }
}`), literals)
	for what, c := range map[string]struct {
		have any
		want string
	}{
		"budgets": {o.Budgets, `[{"node":"","bounds":["20 attempts"]},{"node":"train","bounds":["2.5 dollars"]}]`},
		"shared": {o.Shared, `[{"kind":"agent","name":"ben","bounds":["1 at once"],"used_by":[{"node":"code","capabilities":["go"]}]},` +
			`{"kind":"pool","name":"team","bounds":["least_busy","ben (go)","ada"],"used_by":[{"node":"code","capabilities":["go"]}]},` +
			`{"kind":"quota","name":"api","bounds":["at most 100 starts in 1m","open for 30s after 5 failures in a row"],"used_by":[{"node":"code"},{"node":"train/ask"}]},` +
			`{"kind":"quota","name":"gpu","bounds":["2 units"],"used_by":[{"node":"train","units":"2","holds":true}]}]`},
	} {
		if have, _ := json.Marshal(c.have); string(have) != c.want {
			t.Errorf("%s: have %s\nwant %s", what, have, c.want)
		}
	}
}

// A wait and a value make no attempts.
func TestWaitsAreNoAttempts(t *testing.T) {
	g := graph(t, `
workflow "w" {
  step "pause" {
    wait { duration = "1h" }
  }
  step "sum" { value = 1 + 1 }
  step "work" { run = ["true"] }
}`)
	o, w := Of(g, literals), WorstOf(g, literals, nil, 0)
	if o.Attempts == nil || *o.Attempts != 1 || w.Attempts == nil || *w.Attempts != 1 {
		t.Errorf("%v attempts at most, and %v in the worst case", o.Attempts, w.Attempts)
	}
	for _, s := range o.Steps {
		if want := map[string]int{"pause": 0, "sum": 0, "work": 1}[s.Name]; s.Attempts == nil || *s.Attempts != want {
			t.Errorf("%s makes %v attempts, want %d", s.Name, s.Attempts, want)
		}
	}
}

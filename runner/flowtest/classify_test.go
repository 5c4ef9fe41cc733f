package flowtest_test

import "testing"

// A breaker counts an error by the kind that the rules of the step, its agent, a group around it and the workflow give it, in this order.
// The rules read what the step can read, and the seconds since the step began.
func TestBreakersReadClassifiedErrors(t *testing.T) {
	program := func(step, agent, group, workflow string) string {
		return `
agent "a" {
  type    = "exec"
  command = ["a"]
  ` + agent + `
  circuit_breaker {
    failures = 2
    when     = "error.kind == 'fatal'"
  }
}
workflow "w" {
  ` + workflow + `
  sequence "all" {
    ` + group + `
    step "code" { value = 7 }
    step "ask" {
      agent = agent.a
      ` + step + `
      retry {
        max_attempts = 3
        when         = "true"
        base_delay   = "1s"
        jitter       = "none"
      }
    }
  }
}
`
	}
	rule := func(when, kind string) string {
		return "classify {\n when = \"" + when + "\"\n kind = \"" + kind + "\"\n}\n"
	}
	seven := rule("error.exit_code == 7", "fatal")
	for name, x := range map[string]struct {
		program string
		counted string
	}{
		"no rules":              {program("", "", "", ""), "0"},
		"of the step":           {program(rule("error.exit_code == step.code.output", "fatal"), "", "", ""), "2"},
		"of the agent":          {program("", seven, "", ""), "2"},
		"of the group":          {program("", "", seven, ""), "2"},
		"of the workflow":       {program("", "", "", seven), "2"},
		"the nearest decides":   {program(rule("error.exit_code == 7", "blocking"), seven, seven, seven), "0"},
		"the first that holds":  {program(rule("error.exit_code == 8", "blocking"), seven, rule("true", "blocking"), ""), "2"},
		"the time of the step":  {program(rule("elapsed >= 10", "fatal"), "", "", ""), "1"},
		"what it wrote":         {program(rule("result.stderr contains 'disk full' && result.exit_code == 7 && result.stdout == ''", "fatal"), "", "", ""), "2"},
		"what it did not write": {program("", "", "", rule("result.stderr contains 'no route'", "fatal")), "0"},
		"the number of the try": {program(rule("attempt == 1 && error.node == 'all/ask'", "fatal"), "", "", ""), "1"},
	} {
		t.Run(name, func(t *testing.T) {
			want := map[string]string{"0": "breakers.a.failures == 0 && breakers.a.state == 'closed'", "1": "breakers.a.failures == 1", "2": "breakers.a.state == 'open'"}[x.counted]
			got := outcome(t, x.program, test(`agent "a" { replies = [{ exit_code = 7, takes = "5s", stderr = "disk full" }, { exit_code = 7, takes = "5s", stderr = "disk full" }, { output = "ok" }] }
at "12s" { expect = ["`+want+`"] }
expect = ["elapsed > 0"]`))
			if got != "succeeded" {
				t.Error(got)
			}
		})
	}
}

// A retry reads what the failed attempt wrote, and how long the node has been at work.
func TestRetryReadsTheFailure(t *testing.T) {
	for when, attempts := range map[string]string{"result.stderr contains 'busy'": "5", "result.stdout contains 'busy'": "1", "elapsed < 20": "3"} { // any order: each for itself
		got := outcome(t, `
workflow "w" {
  step "s" {
    run      = ["s"]
    on_error = "continue"
    retry {
      max_attempts = 5
      base_delay   = "1s"
      multiplier   = 1
      jitter       = "none"
      when         = "`+when+`"
    }
  }
}
`, test(`step "s" { replies = [{ exit_code = 1, stderr = "busy", takes = "9s" }] }
expect = ["step.s.attempts == `+attempts+`"]`))
		if got != "succeeded" {
			t.Errorf("%s: %s", when, got)
		}
	}
}

package flowtest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/runner/flowtest"
)

// targeted is an office whose loop has a target and a quota. What the loop says about its target starts a workflow.
var targeted = strings.Replace(office, `  source "dispatch" {}`, `  quota  = quota.api
  target { success_rate = 0.5 }
  source "dispatch" {}`, 1) + `
quota "api" {
  circuit_breaker {
    failures = 2
    reset    = "3h"
  }
}
on "urgent" { workflow = workflow.shaky }
workflow "shaky" {
  step "break" {
    run   = ["x"]
    quota = quota.api
    retry { max_attempts = 2 }
  }
}
on "flowrun.target" {
  workflow = workflow.heard
  with     = { state = event.state, is = event.is }
}
workflow "heard" {
  input "state" { type = string }
  input "is" { type = number }
  step "note" { value = "${input.state} ${input.is}" }
}
`

// A loop tells once that it misses a target, whatever process is killed when, and a test reads which targets it misses.
func TestLoopTargets(t *testing.T) {
	p, loaded := load(t, targeted, test(`
  run_for = "30m"
  crash { after = "3m30s" }
  items = [{ id = "a", after = "5s" }, { id = "b", after = "5s" }, { id = "c", after = "5s" }, { id = "d", after = "5s" }, { id = "e", after = "5s" }]
  step "work" {
    replies = [{ error = { kind = "recoverable", message = "no" } }]
  }
  at "1s" { expect = ["loop.missed == []"] }
  expect = [
    "loop.failed == 10 && loop.missed == ['success_rate']",
    "map(filter(runs, .workflow == 'heard'), .cause.name) == ['flowrun.target']",
    "filter(runs, .workflow == 'heard')[0].step.note.output startsWith 'missed 0'",
  ]
  agent "sam" { replies = [{ output = "ok", takes = "1m" }] }
  agent "leo" { replies = [{ output = "ok", takes = "1m" }] }
`))
	if r := flowtest.Run(context.Background(), p, &loaded.Tests[0]); !r.Passed() {
		t.Errorf("%+v", r.Failures)
	}
}

// While the breaker of its quota is open, the loop takes nothing, and a test reads why.
func TestLoopQuota(t *testing.T) {
	p, loaded := load(t, targeted, test(`
  run_for = "5h"
  emit "urgent" { after = "1m" }
  items = [{ id = "a", after = "5m" }]
  step "break" { replies = [{ error = { message = "down" } }] }
  at "1h" { expect = ["any(loop.left, .id == 'a' && .why[0] contains 'the breaker of quota api is open')", "loop.working == [] && !('a' in loop.done)"] }
  expect = ["any(loop.items, .id == 'a' && .status == 'closed' && .taken > 10800)"]
  agent "sam" { replies = [{ output = "ok", takes = "1m" }] }
  agent "leo" { replies = [{ output = "ok", takes = "1m" }] }
`))
	if r := flowtest.Run(context.Background(), p, &loaded.Tests[0]); !r.Passed() {
		t.Errorf("%+v", r.Failures)
	}
}

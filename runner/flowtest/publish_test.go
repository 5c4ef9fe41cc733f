package flowtest_test

import (
	"context"
	"testing"

	"github.com/flowrun/flowrun/runner/flowtest"
)

// What becomes of a loop starts workflows, once each, whatever process is killed when, and a run can wait for it.
func TestLoopEvents(t *testing.T) {
	p, loaded := load(t, office+`
on "flowrun.loop" {
  workflow = workflow.heard
  when     = "event.loop == 'l'"
  with     = { state = event.state, agent = event.agent }
}
on "go" { workflow = workflow.waits }
workflow "heard" {
  input "state" { type = string }
  input "agent" {
    type    = string
    default = ""
  }
  step "note" { value = "${input.state} ${input.agent}" }
}
workflow "waits" {
  step "it" {
    wait {
      event = "flowrun.loop"
      match = "event.state == 'agent_stopped'"
    }
  }
}
`, test(`
  run_for = "30m"
  crash { after = "1m1s" }
  emit "go" { after = "1s" }
  items = [{ id = "a", after = "1m", assignee = "leo" }]
  step "work" { replies = [{ error = { kind = "fatal", message = "no key" } }] }
  expect = [
    "map(filter(runs, .workflow == 'heard'), .step.note.output) == ['agent_stopped leo']",
    "filter(runs, .workflow == 'waits')[0].status == 'succeeded'",
  ]
  agent "sam" { replies = [{ output = "ok", takes = "1m" }] }
  agent "leo" { replies = [{ output = "ok", takes = "1m" }] }
`))
	if r := flowtest.Run(context.Background(), p, &loaded.Tests[0]); !r.Passed() {
		t.Errorf("%+v", r.Failures)
	}
}

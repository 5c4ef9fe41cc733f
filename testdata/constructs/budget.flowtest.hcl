test "What would start in a spent budget fails, and nothing else does" {
  crash_everywhere = true
  step "part" { replies = [{}] }
  step "all" { replies = [{}] }
  agent "worker" { replies = [{ error = { kind = "recoverable", message = "it fails" } }] }
  agent "other" { replies = [{ output = "never asked" }] }

  expect = [
    "run.status == 'succeeded'",
    "node['parts[1]'].status == 'succeeded'",
    "node['parts[2]'].status == 'failed'",
    "node['parts[2]/part'].error.kind == 'fatal' && node['parts[2]/part'].error.reason == 'budget'",
    "step.stubborn.error.reason == 'budget' && step.stubborn.output == 'nothing'",
    "len(calls.worker) == 2 && len(calls.other) == 0",
    "step.inner.status == 'failed' && step.inner.usage.attempts == 2",
    "run.outputs.parts.failed == 1",
    "any(run.warnings, # contains 'the budget of the run is spent')",
  ]
}

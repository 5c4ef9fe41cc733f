test "What would start in a spent budget fails, and nothing else does" {
  crash_everywhere = true
  step "part" { replies = [{}] }
  step "all" { replies = [{}] }

  agent "worker" {
    replies = [{
      error = try(request.with.fails, 0) > 0 ? { kind = "recoverable", message = "it fails" } : null
      usage = { cost_usd = try(request.with.costs, 0) }
    }]
  }

  agent "other" { replies = [{ output = "never asked" }] }

  expect = [
    "run.status == 'succeeded'",
    "node['parts[1]'].status == 'succeeded'",
    "node['parts[2]'].status == 'failed'",
    "node['parts[2]/part'].error.kind == 'fatal' && node['parts[2]/part'].error.reason == 'budget'",
    "step.stubborn.error.reason == 'budget' && step.stubborn.output == 'nothing'",
    "step.paid.counts.succeeded == 3 && run.outputs.paid.cost_usd == 1.5 && node['paid[3]'].error.reason == 'budget'",
    "len(calls.worker) == 2 + 3 && len(calls.other) == 0",
    "step.inner.status == 'failed' && step.inner.usage.attempts == 2",
    "run.outputs.parts.failed == 1",
    "any(run.warnings, # contains 'the budget of the run is spent')",
  ]
}

test "4, exclusive choice: one of several branches is taken, by what is known then" {
  crash_everywhere = true
  agent "worker" {
    replies = [{
      error  = request.attempt <= try(request.with.fails, 0) ? { kind = try(request.with.kind, "recoverable"), message = "it fails" } : null
      output = { agent = request.agent, attempt = request.attempt, feedback = try(request.feedback, ""), with = request.with }
      takes  = "${try(request.with.takes, 0) * 100}ms"
    }]
  }

  expect = [
    "run.status == 'succeeded'",
    "node['weigh'].status == 'succeeded'",
    "node['carrier'].status == 'succeeded'",
    "node['carrier/truck'].status == 'skipped'",
    "node['carrier/van'].status == 'succeeded'",
    "node['carrier/bike'].status == 'skipped'",
  ]
}

test "20, cancel case: the whole run is ended early; all that is under way is withdrawn, and what must be done last is done" {
  crash_everywhere = true
  agent "worker" {
    replies = [{
      error  = request.attempt <= try(request.with.fails, 0) ? { kind = try(request.with.kind, "recoverable"), message = "it fails" } : null
      output = { agent = request.agent, attempt = request.attempt, feedback = try(request.feedback, ""), with = request.with }
      takes  = "${try(request.with.takes, 0) * 100}ms"
    }]
  }

  expect = [
    "run.status == 'cancelled'",
    "node['examine'].status == 'cancelled'",
    "node['withdrawn'].status == 'succeeded'",
    "node['stop'].status == 'succeeded'",
    "node['close-file'].status == 'succeeded'",
  ]
}

test "1, sequence: an activity begins when the one before it has ended" {
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
    "node['steps'].status == 'succeeded'",
    "node['steps/receive'].status == 'succeeded'",
    "node['steps/check'].status == 'succeeded'",
    "node['steps/ship'].status == 'succeeded'",
  ]
}

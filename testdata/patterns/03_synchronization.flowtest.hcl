test "3, synchronization: an activity begins when several branches have ended" {
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
    "node['prepare'].status == 'succeeded'",
    "node['prepare/bill'].status == 'succeeded'",
    "node['prepare/pack'].status == 'succeeded'",
    "node['ship'].status == 'succeeded'",
  ]
}

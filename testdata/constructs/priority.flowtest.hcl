test "What is more important gets the slot first" {
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
    "node['first'].status == 'succeeded'",
    "node['low'].status == 'succeeded'",
    "node['high'].status == 'succeeded'",
    "node['critical'].status == 'succeeded'",
    "node['critical/inner'].status == 'succeeded'",
  ]
}

test "The first success decides, and the rest is waited for" {
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
    "node['mirrors'].status == 'succeeded'",
    "node['mirrors/near'].status == 'succeeded'",
    "node['mirrors/far'].status == 'succeeded'",
  ]
}

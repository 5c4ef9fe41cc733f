test "11, implicit termination: the run ends when nothing is left to do; no node is marked as the last" {
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
    "node['left'].status == 'succeeded'",
    "node['right'].status == 'succeeded'",
    "node['right-again'].status == 'succeeded'",
  ]
}

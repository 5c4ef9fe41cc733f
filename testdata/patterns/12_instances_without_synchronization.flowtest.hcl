test "12, multiple instances without synchronization: instances are made, and what follows does not wait for them" {
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
    "node['list'].status == 'succeeded'",
    "node['notice'].status == 'succeeded'",
    "node['notice[0]'].status == 'succeeded'",
    "node['notice[1]'].status == 'succeeded'",
    "node['record'].status == 'succeeded'",
  ]
}

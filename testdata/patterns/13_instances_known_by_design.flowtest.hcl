test "13, multiple instances known by design: three are written down; what follows waits for all of them" {
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
    "node['director'].status == 'succeeded'",
    "node['director[0]'].status == 'succeeded'",
    "node['director[1]'].status == 'succeeded'",
    "node['director[2]'].status == 'succeeded'",
    "node['publish'].status == 'succeeded'",
  ]
}

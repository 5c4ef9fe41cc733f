test "A join may be a condition over what has ended" {
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
    "node['probe'].status == 'succeeded'",
    "node['probe[0]'].status == 'succeeded'",
    "node['probe[1]'].status == 'succeeded'",
    "node['probe[2]'].status == 'cancelled'",
    "node['probe[3]'].status == 'cancelled'",
  ]
}

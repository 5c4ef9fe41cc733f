test "9, structured discriminator: what follows begins when the first branch has ended; the others end in peace and count for nothing" {
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
    "node['check'].status == 'succeeded'",
    "node['check/breathing'].status == 'succeeded'",
    "node['check/pulse'].status == 'succeeded'",
    "node['treat'].status == 'succeeded'",
  ]
}

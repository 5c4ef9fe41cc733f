test "Two successes are enough; the third is cancelled" {
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
    "node['votes'].status == 'succeeded'",
    "node['votes/ada'].status == 'succeeded'",
    "node['votes/grace'].status == 'succeeded'",
    "node['votes/mary'].status == 'cancelled'",
    "node['decide'].status == 'succeeded'",
  ]
}

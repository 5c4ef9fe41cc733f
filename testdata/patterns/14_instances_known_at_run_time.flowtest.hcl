test "14, multiple instances known at run time: how many is known when they are made, and not before the run" {
  crash_everywhere = true
  agent "worker" {
    replies = [{
      error  = request.attempt <= try(request.with.fails, 0) ? { kind = try(request.with.kind, "recoverable"), message = "it fails" } : null
      output = { agent = request.agent, attempt = request.attempt, feedback = try(request.feedback, ""), with = request.with }
      takes  = "${try(request.with.takes, 0) * 100}ms"
    }]
  }

  expect = [
    "run.status == 'failed'",
    "node['reviewers'].status == 'succeeded'",
    "node['review'].status == 'failed'",
    "node['decide'].status == 'blocked'",
  ]
}

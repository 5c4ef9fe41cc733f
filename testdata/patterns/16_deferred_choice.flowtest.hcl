test "16, deferred choice: the world decides which branch is taken, by what comes first; the other is withdrawn" {
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
    "node['first/reply'].status == 'succeeded'",
    "node['first/patience'].status == 'cancelled'",
    "node['then'].status == 'succeeded'",
    "node['then/read'].status == 'succeeded'",
    "node['then/remind'].status == 'skipped'",
  ]
}

test "18, milestone: an activity is possible once a point is reached, and only as long as the next one is not" {
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
    "node['ordered'].status == 'succeeded'",
    "node['shipped'].status == 'succeeded'",
    "node['change-address'].status == 'succeeded'",
    "node['too-late'].status == 'skipped'",
  ]
}

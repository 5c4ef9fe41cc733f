test "17, interleaved parallel routing: activities in any order that their dependencies allow, and never two at once" {
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
    "node['patient'].status == 'succeeded'",
    "node['patient/blood'].status == 'succeeded'",
    "node['patient/analyse'].status == 'succeeded'",
    "node['patient/x-ray'].status == 'succeeded'",
  ]
}

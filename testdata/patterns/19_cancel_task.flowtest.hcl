test "19, cancel task: one activity is withdrawn while it runs, and the run goes on" {
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
    "node['assessment'].status == 'succeeded'",
    "node['assessment/expert'].status == 'cancelled'",
    "node['assessment/limit'].status == 'succeeded'",
    "node['settle'].status == 'succeeded'",
  ]
}

test "Bounds at each level: the run, a group, a for_each" {
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
    "node['each'].status == 'succeeded'",
    "node['each[0]'].status == 'succeeded'",
    "node['each[1]'].status == 'succeeded'",
    "node['each[2]'].status == 'succeeded'",
    "node['each[3]'].status == 'succeeded'",
    "node['group'].status == 'succeeded'",
    "node['group/a'].status == 'succeeded'",
    "node['group/b'].status == 'succeeded'",
  ]
}

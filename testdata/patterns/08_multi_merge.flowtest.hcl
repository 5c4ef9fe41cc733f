test "8, multi-merge: branches come together without waiting for each other, and what follows is done once for each of them" {
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
    "node['part'].status == 'succeeded'",
    "node['part[brakes]'].status == 'succeeded'",
    "node['part[brakes]/inspect'].status == 'succeeded'",
    "node['part[brakes]/note'].status == 'succeeded'",
    "node['part[tyres]'].status == 'succeeded'",
    "node['part[tyres]/inspect'].status == 'succeeded'",
    "node['part[tyres]/note'].status == 'succeeded'",
  ]
}

test "A join that cannot be met any more fails at once, and the rest is cancelled" {
  crash_everywhere = true
  agent "worker" {
    replies = [{
      error  = request.attempt <= try(request.with.fails, 0) ? { kind = try(request.with.kind, "recoverable"), message = "it fails" } : null
      output = { agent = request.agent, attempt = request.attempt, feedback = try(request.feedback, ""), with = request.with }
      takes  = "${try(request.with.takes, 0) * 100}ms"
    }]
  }

  step "votes/ada" { replies = [{ exit_code = 1 }] }

  step "votes/grace" { replies = [{ exit_code = 1 }] }

  expect = [
    "run.status == 'failed'",
    "node['votes'].status == 'failed'",
    "node['votes/ada'].status == 'failed'",
    "node['votes/grace'].status == 'failed'",
    "node['votes/mary'].status == 'cancelled'",
  ]
}

test "5, simple merge: alternative branches come together without waiting for each other; what follows begins once" {
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
    "node['pay'].status == 'succeeded'",
    "node['pay/card'].status == 'skipped'",
    "node['pay/invoice'].status == 'succeeded'",
    "node['thank'].status == 'succeeded'",
  ]
}

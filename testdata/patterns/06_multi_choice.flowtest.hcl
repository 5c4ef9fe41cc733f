test "6, multi-choice: of several branches those are taken whose conditions hold, here two of three" {
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
    "node['report'].status == 'succeeded'",
    "node['firefighters'].status == 'succeeded'",
    "node['ambulance'].status == 'succeeded'",
    "node['cleaners'].status == 'skipped'",
  ]
}

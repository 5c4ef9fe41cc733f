test "7, structured synchronizing merge: what follows a multi-choice waits for the branches that were taken, and for no other" {
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
    "node['ambulance'].status == 'skipped'",
    "node['file-report'].status == 'succeeded'",
  ]
}

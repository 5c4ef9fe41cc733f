test "What a step remembers, another one finds, and an agent is told. A gate sees what its agent was told" {
  crash_everywhere = true
  agent "worker" {
    replies = [{
      error  = request.attempt <= try(request.with.fails, 0) ? { kind = try(request.with.kind, "recoverable"), message = "it fails" } : null
      output = { agent = request.agent, attempt = request.attempt, feedback = try(request.feedback, ""), with = request.with }
      takes  = "${try(request.with.takes, 0) * 100}ms"
    }]
  }

  expect = [
    "step.remember.output.known == false",
    "step.recall.output.count == 0", # the memory of a test is empty
    "step.work.error.gate == 'told'",
    "step.alone.status == 'blocked'",
  ]
}

test "Agents of a pool share tasks" {
  crash_everywhere = true
  agent "ann" {
    replies = [{
      error  = request.attempt <= try(request.with.fails, 0) ? { kind = try(request.with.kind, "recoverable"), message = "it fails" } : null
      output = { agent = request.agent, attempt = request.attempt, with = request.with }
      takes  = "1s"
    }]
  }

  agent "ben" {
    replies = [{
      error  = request.attempt <= try(request.with.fails, 0) ? { kind = try(request.with.kind, "recoverable"), message = "it fails" } : null
      output = { agent = request.agent, attempt = request.attempt, with = request.with }
      takes  = "1s"
    }]
  }

  agent "cat" {
    replies = [{
      error  = request.attempt <= try(request.with.fails, 0) ? { kind = try(request.with.kind, "recoverable"), message = "it fails" } : null
      output = { agent = request.agent, attempt = request.attempt, with = request.with }
      takes  = "1s"
    }]
  }

  expect = [
    "run.status == 'succeeded'",
    "run.outputs.team == 5",
    "len(run.outputs.turns.ann) == 2 && len(run.outputs.turns.cat) == 2",
    "step.fit.agent == 'ben' && step.fit.attempts == 2",
    "node['named[0]'].agent == 'cat' && node['named[1]'].agent == 'ann'",
    "node['named[2]'].error.reason == 'no_member' && len(calls['named[2]']) == 0",
    "step.either.agent == 'cat'",
    "max_at_once.ben == 1",
  ]
}

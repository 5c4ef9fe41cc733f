test "People are told when a breaker opens and closes, and when a rule comes on and ends" {
  crash_everywhere = true
  agent "remote" { replies = [{ error = request.attempt == 1 ? { kind = "transient", message = "nobody answers" } : null, output = "back", takes = "1s" }] }
  step "fetch" { replies = [{ exit_code = request.attempt == 1 ? 1 : 0 }] }

  expect = [
    "run.status == 'succeeded' && step.ask.output == 'back'",
    "map(filter(notifications, #.channel == 'oncall'), #.text) == ['The circuit breaker of agent \"remote\" has opened. The last error: nobody answers', 'The circuit breaker of agent \"remote\" has closed.', 'The circuit breaker of quota \"mirror\" has opened. The last error: exit code 1', 'The circuit breaker of quota \"mirror\" has closed.']",
    "map(filter(notifications, #.channel == 'status' && #.data?.kind == 'quota'), #.data.state) == ['open', 'closed']",
    "map(filter(notifications, #.channel == 'status' && #.data?.rule == 1), #.data.on) == [true, false]",
    "all(notifications, #.level == (#.title contains 'open' ? 'error' : 'info'))",
  ]
}

test "Five runs whose attempts fail at once are one message" {
  crash_everywhere = true
  agent "remote" {
    replies = [{ error = request.attempt == 1 ? { kind = "transient", message = "nobody answers" } : null, takes = "1s" }]
  }

  step "fetch" { replies = [{}] }
  start "a" {}
  start "b" {}
  start "c" {}
  start "d" {}
  start "e" {}

  expect = ["all(runs, #.status == 'succeeded')", "map(filter(notifications, #.channel == 'oncall'), #.data.state) == ['open', 'closed']"]
}

test "the cheap agent takes what is left, and at its bound nothing more starts" {
  crash_everywhere = true
  inputs           = { questions = ["a", "b", "c", "d", "e", "f", "g"] }
  agent "strong" {
    replies = [{ output = { question = request.task, answer = "long" }, usage = { cost_usd = 0.8 } }]
  }

  agent "cheap" {
    replies = [{ output = { question = request.task, answer = "short" }, usage = { cost_usd = 0.2 } }]
  }

  expect = [
    "run.status == 'succeeded'",
    "len(calls.strong) == 3 && len(calls.cheap) == 3",
    "map(run.outputs.answers, #.question) == ['a', 'b', 'c', 'd', 'e', 'f'] && run.outputs.open == 1",
    "node['answer[3]'].error.kind == 'fatal' && node['answer[3]'].error.reason == 'budget' && node['rest[3]'].error.reason == 'budget'",
    "abs(run.outputs.cost_usd - 3) < 0.001",
    "len(run.warnings) == 2 && run.warnings[0] contains '80% of the budget of \"answer\"'",
  ]
}

test "questions that cost little are all answered, and the cheap agent has nothing to do" {
  inputs = { questions = ["a", "b", "c"] }
  agent "strong" {
    replies = [{ output = { question = request.task, answer = "long" }, usage = { cost_usd = 0.1 } }]
  }

  expect = ["len(run.outputs.answers) == 3 && run.outputs.open == 0", "len(run.warnings) == 0"]
}

test "the run warns once of an agent that does not say what it costs" {
  inputs = { questions = ["a", "b", "c"] }
  agent "strong" {
    replies = [{ output = { question = request.task, answer = "long" } }]
  }

  expect = ["len(run.warnings) == 1 && run.warnings[0] contains 'does not say its cost_usd'"]
}

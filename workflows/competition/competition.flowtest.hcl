test "what is handed in when the time is up can win" {
  crash_everywhere = true
  inputs           = { task = "Find a faster way." }

  agent "ann" { replies = [{ output = { text = "a loop", score = 0.5 }, takes = "10m" }] }
  agent "bo" { replies = [{ hang = true, partial = { text = "half of a table", score = 0.8 } }] }
  agent "cy" { replies = [{ hang = true }] }

  expect = [
    "run.outputs == {'winner': 'bo', 'text': 'half of a table'}",
    "step.race_bo.partial && !step.race_ann.partial",
    "step.race_cy.status == 'failed' && step.race_cy.error.reason == 'timeout'",
    "elapsed == 30 * 60",
  ]
}

test "the best of those who finish wins, without a wait for the time limit" {
  inputs = { task = "Find a faster way." }

  agent "ann" { replies = [{ output = { text = "a loop", score = 0.5 }, takes = "10m" }] }
  agent "bo" { replies = [{ output = { text = "a table", score = 0.7 }, takes = "5m" }] }
  agent "cy" { replies = [{ output = { text = "a tree", score = 0.9 }, takes = "20m" }] }

  expect = ["run.outputs.winner == 'cy' && elapsed == 20 * 60"]
}

test "without any answer there is no winner" {
  inputs = { task = "Find a faster way." }

  agent "ann" { replies = [{ hang = true }] }
  agent "bo" { replies = [{ hang = true }] }
  agent "cy" { replies = [{ error = { message = "no idea" } }] }

  expect = ["run.status == 'failed' && step.race.error.kind == 'recoverable' && step.race.error.reason == 'join'"]
}

test "of equal scores the first by name wins" {
  inputs = { task = "Find a faster way." }

  agent "ann" { replies = [{ output = { text = "a loop", score = 0.5 } }] }
  agent "bo" { replies = [{ output = { text = "a table", score = 0.9 }, takes = "9m" }] }
  agent "cy" { replies = [{ output = { text = "a tree", score = 0.9 }, takes = "2m" }] }

  expect = ["run.outputs == {'winner': 'bo', 'text': 'a table'}"]
}

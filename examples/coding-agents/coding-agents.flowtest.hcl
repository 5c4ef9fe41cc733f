test "a change that does not build goes back to its author" {
  inputs = { ticket = "Add a --version flag" }

  agent "claude" {
    replies = [
      { output = { result = "Done.", total_cost_usd = 0.31 }, takes = "4m" },
      { output = { result = "Mended.", total_cost_usd = 0.12 }, takes = "1m" },
    ]
  }

  gate "builds" { replies = [{ exit_code = 2, stdout = "main.go:3: trailing whitespace." }, { exit_code = 0 }] }
  agent "codex" { replies = [{ output = "Good. ${request.task}" }] }
  agent "last_word" { replies = [{ output = "It is good." }] }

  expect = [
    "run.outputs.summary == 'It is good.'",
    "run.outputs.cost_usd == 0.12",
    "calls.claude[1].feedback contains 'trailing whitespace'",
    "calls.codex[0].task contains 'Mended.'",
  ]
}

test "an author that hangs is given up" {
  inputs = { ticket = "Add a --version flag" }
  agent "claude" { replies = [{ hang = true }] }

  expect = [
    "step.write.error.reason == 'timeout' && step.write.attempts == 3",
    "step.review.status == 'blocked'",
  ]
}

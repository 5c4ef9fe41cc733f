test "the second draft is cheap where the first was dear" {
  crash_everywhere = true

  step "first" {
    replies = [
      { error = { kind = "transient", message = "busy" }, usage = { tokens = 500, cost_usd = 0.25 } },
      { output = "a draft", usage = { input_tokens = 1000, output_tokens = 200, cost_usd = 1 } },
    ]
  }

  agent "cheap" {
    replies = [{ output = "another", takes = "1s" }]
  }

  expect = [
    "run.status == 'succeeded'",
    "step.first.usage.tokens == 1700",
    "step.drafts.usage.cost_usd == 1.25",
    "run.outputs.attempts == 3",
    "run.outputs.second == 'cheap'",
  ]
}

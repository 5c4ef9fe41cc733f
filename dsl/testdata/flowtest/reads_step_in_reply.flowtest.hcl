test "one" {
  inputs = { ticket = "T-1" }
  expect = ["run.status == 'succeeded'"]
  agent "coder" {
    replies = [{ output = { verdict = step.plan.output, score = 1 } }]
  }
}

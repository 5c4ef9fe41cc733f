test "one" {
  inputs = { ticket = "T-1" }
  expect = ["run.status == 'succeeded'"]
  agent "coder" {
    replies = [{ output = { verdict = "pass", score = 1 }, measured = 3 }]
  }
}

test "one" {
  inputs = { ticket = "T-1" }
  expect = ["run.status == 'succeeded'"]
  agent "codre" {
    replies = [{ output = { verdict = "pass", score = 1 } }]
  }
}

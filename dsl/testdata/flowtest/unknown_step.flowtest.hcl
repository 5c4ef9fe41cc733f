test "one" {
  inputs = { ticket = "T-1" }
  expect = ["run.status == 'succeeded'"]
  step "bild/api" {
    replies = [{ output = { verdict = "pass", score = 1 } }]
  }
}

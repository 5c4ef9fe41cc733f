test "one" {
  inputs = { ticket = "T-1" }
  expect = ["run.status == 'succeeded'"]
  step "plan" {
    replies = [{ stduot = "x" }]
  }
}

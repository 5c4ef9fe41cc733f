test "one" {
  inputs = { ticket = "T-1" }
  expect = ["run.status == 'succeeded'"]
  step "sum" {
    replies = [{ output = 3 }]
  }
}

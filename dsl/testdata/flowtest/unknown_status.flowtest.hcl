test "one" {
  inputs = { ticket = "T-1" }
  expect = ["step.plan.status == 'success'"]
}

test "one" {
  inputs = { ticket = "T-1" }
  expect = ["stpe.plan.status == 'succeeded'"]
}

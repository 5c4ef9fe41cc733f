test "one" {
  inputs = { ticket = "T-1" }
  expect = ["step.paln.status == 'succeeded'"]
}

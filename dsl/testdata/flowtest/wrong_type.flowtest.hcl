test "one" {
  inputs = { ticket = "T-1" }
  expect = ["step.api.output.score == 'high'"]
}

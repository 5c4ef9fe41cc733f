test "one" {
  inputs = { ticket = "T-1" }
  expect = ["step.draft.status == 'succeeded'"]
}

test "one" {
  inputs = { ticket = "T-1", size = "large" }
  expect = ["run.status == 'succeeded'"]
}

test "one" {
  inputs = { ticket = "T-1" }
  dispatch "ship" {}
  expect = ["run.status == 'succeeded'"]
}

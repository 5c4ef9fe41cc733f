test "one" {
  inputs = { ticket = "T-1" }
  expect = ["run.status == failed"]
}

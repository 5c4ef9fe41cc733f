test "one" {
  inputs = { ticket = "T-1" }
  expect = ["len(calls.coders) == 1"]
}

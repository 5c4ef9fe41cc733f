test "one" {
  inputs = { ticket = "T-1" }
  expect = ["len(notifications) == 1"]
}

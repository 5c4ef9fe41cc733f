test "one" {
  inputs = { ticket = "T-1" }
  expect = ["len(tickets) == 1"]
}

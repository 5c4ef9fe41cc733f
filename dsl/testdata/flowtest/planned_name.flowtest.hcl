test "one" {
  inputs = { ticket = "T-1" }
  expect = ["len(refused_events) == 1"]
}

test "one" {
  inputs = { ticket = "T-1" }
  expect = ["loop.done == []", "agents.coder.done == 1"]
}

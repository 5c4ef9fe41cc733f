test "one" {
  dispatch "a" { assignee = "codr" }
  expect = ["agents.codr.done == 1", "loop.stauts == 'idle'"]
}

test "one" {
  items  = { backlog = "a" }
  expect = ["loop.done == ['a']"]
}

test "one" {
  items  = { backlog = "TODO.md" }
  expect = ["loop.done == ['a']"]
}

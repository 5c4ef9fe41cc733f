test "one" {
  items  = { backlog = 3 }
  expect = ["loop.done == ['a']"]
}

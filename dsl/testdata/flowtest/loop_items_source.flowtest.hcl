test "one" {
  items  = { backlogs = [{ id = "a" }] }
  expect = ["loop.done == ['a']"]
}

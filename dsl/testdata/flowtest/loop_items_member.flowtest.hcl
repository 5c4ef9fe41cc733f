test "one" {
  items  = [{ id = "a", title = "A", prio = 3 }, { id = "b" }, { id = "b" }, { title = "C" }, { id = "d", after = "soon" }]
  expect = ["loop.done == ['a']"]
}

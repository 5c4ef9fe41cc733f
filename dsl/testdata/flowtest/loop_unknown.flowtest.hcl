test "one" {
  loop   = loop.works
  expect = ["loop.done == []"]
}

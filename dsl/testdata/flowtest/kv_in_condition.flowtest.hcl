test "one" {
  inputs = { ticket = "T-1" }
  expect = ["kv['c d/c'] == 1", "kv['x/'] == 1"]
}

test "one" {
  inputs = { ticket = "T-1" }
  expect = ["live == 0"]
  kv     = { "a b/c" = 1, "default/a/b" = 2, "plain" = 3 }
}

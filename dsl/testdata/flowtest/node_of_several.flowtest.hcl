test "one" {
  expect = ["node['plan'].output == 'x'"]
  start "first" { inputs = { ticket = "T-1" } }
  start "second" { inputs = { ticket = "T-2" } }
}

test "one" {
  expect = ["runs.a.status == 'succeeded'"]
  start "a" { inputs = { ticket = "T-1" } }
  start "a" { inputs = { ticket = "T-2" } }
}

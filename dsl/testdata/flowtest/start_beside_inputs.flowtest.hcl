test "one" {
  inputs = { ticket = "T-1" }
  expect = ["runs.a.status == 'succeeded'"]
  start "a" { inputs = { ticket = "T-1" } }
}

test "one" {
  expect = ["runs.frist.status == 'succeeded'"]
  start "first" { inputs = { ticket = "T-1" } }
}

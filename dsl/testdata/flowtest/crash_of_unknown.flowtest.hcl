test "one" {
  expect = ["runs.first.status == 'succeeded'"]
  start "first" { inputs = { ticket = "T-1" } }
  crash { of = "fist" }
}

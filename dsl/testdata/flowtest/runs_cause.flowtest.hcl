test "one" {
  expect = ["runs.first.causes == 'start'", "runs[0].cause == 'started'"]
  start "first" { inputs = { ticket = "T-1" } }
}

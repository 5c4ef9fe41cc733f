test "one" {
  expect = ["runs.first.causes == null", "runs[0].cause.kind == 'started'"]
  start "first" { inputs = { ticket = "T-1" } }
}

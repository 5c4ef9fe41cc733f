test "one" {
  expect = ["runs.build.status == 'succeeded'"]
  start "build" { inputs = { ticket = "T-1" } }
}

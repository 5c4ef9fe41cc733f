test "one" {
  expect = ["runs.first.step.plann.output == 'x'"]
  start "first" { inputs = { ticket = "T-1" } }
}

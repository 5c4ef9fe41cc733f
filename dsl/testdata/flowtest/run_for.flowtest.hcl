test "one" {
  inputs = { ticket = "T-1" }
  run_for = "9000d"
  expect  = ["run.status == 'running'"]
}

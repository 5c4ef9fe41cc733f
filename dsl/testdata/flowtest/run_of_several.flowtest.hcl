test "one" {
  expect = ["run.status == 'succeeded'"]
  start "first" { inputs = { ticket = "T-1" } }
}

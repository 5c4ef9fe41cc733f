test "one" {
  inputs = { ticket = "T-1" }
  start_at = "tomorrow"
  expect   = ["run.status == 'succeeded'"]
}

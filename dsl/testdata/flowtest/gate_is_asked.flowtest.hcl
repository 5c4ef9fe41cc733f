test "one" {
  inputs = { ticket = "T-1" }
  expect = ["run.status == 'succeeded'"]
  gate "good" {
    replies = [{ exit_code = 0 }]
  }
}

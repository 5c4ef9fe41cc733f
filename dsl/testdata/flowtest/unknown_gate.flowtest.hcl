test "one" {
  inputs = { ticket = "T-1" }
  expect = ["run.status == 'succeeded'"]
  gate "build/api/tets" {
    replies = [{ exit_code = 0 }]
  }
}

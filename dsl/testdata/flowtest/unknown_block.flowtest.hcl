test "one" {
  inputs = { ticket = "T-1" }
  expect = ["run.status == 'succeeded'"]
  agnet "coder" {
    replies = [{ output = "x" }]
  }
}

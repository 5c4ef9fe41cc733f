test "one" {
  inputs = { ticket = "T-1" }
  expect = ["run.status == 'succeeded'"]
  agent "coder" {
    replies = { error = { kind = "fatal" } }
  }
}

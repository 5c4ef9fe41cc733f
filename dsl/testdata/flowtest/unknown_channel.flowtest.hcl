test "one" {
  inputs = { ticket = "T-1" }
  expect = ["run.status == 'succeeded'"]
  channel "dev" {
    replies = [{ hang = true }]
  }
}

test "one" {
  inputs = { ticket = "T-1" }
  items  = [{ id = "a" }]
  dispatch "b" {}
  expect = ["run.status == 'succeeded'"]
}

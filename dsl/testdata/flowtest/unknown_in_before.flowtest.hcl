test "one" {
  inputs = { ticket = "T-1" }
  expect = ["before('plan', 'shpi')"]
}

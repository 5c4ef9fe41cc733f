test "one" {
  expect = ["runs.first.status == 'succeeded'"]
  start "first" { inputs = { ticket = "T-1" } }
  start "second" { inputs = { ticket = "T-2" } }
  cancel { after = "1m" }
}

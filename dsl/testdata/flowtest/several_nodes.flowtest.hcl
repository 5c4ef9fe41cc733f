test "one" {
  inputs = { ticket = "T-1" }
  expect = ["node['inner'].status == 'succeeded'"]
  step "inner" { replies = [{ stdout = "" }] }
}

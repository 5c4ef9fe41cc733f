test "one" {
  inputs = { ticket = "T-1" }
  expect = ["live == 0"]
  step "ship/compensat" { replies = [{ exit_code = 0 }] }
}

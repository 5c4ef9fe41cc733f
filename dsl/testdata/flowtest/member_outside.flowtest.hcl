test "one" {
  inputs = { ticket = "T-1" }
  step "plan" { stdout = "" }
  expect = ["live == 0"]
}

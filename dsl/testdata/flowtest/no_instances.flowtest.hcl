test "one" {
  inputs = { ticket = "T-1" }
  expect = ["live == 0"]
  step "plan[0]" { replies = [{ stdout = "" }] }
  step "each[0][1]" { replies = [{ output = { ok = true } }] }
}

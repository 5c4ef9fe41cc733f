test "one" {
  inputs = { ticket = "T-1" }
  expect = ["run.status == 'succeeded'"]
  step "plan" { replies = [{ stdout = "x" }] }
  step "plan" { replies = [{ stdout = "y" }] }
}

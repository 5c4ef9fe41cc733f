test "one" {
  inputs = { ticket = "T-1" }
  expect = ["live == 0"]
  step { replies = [{ stdout = "" }] }
  gate { replies = [{ exit_code = 0 }] }
  at { expect = ["live == 0"] }
  step { replies = [{ stdout = "" }] }
}

test "one" {
  inputs = { ticket = "T-1" }
  expect = ["live == 0"]
  gate "" { replies = [{ exit_code = 0 }] }
  gate "" { replies = [{ exit_code = 0 }] }
}

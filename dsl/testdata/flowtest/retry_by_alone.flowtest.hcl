test "one" {
  inputs = { ticket = "T-1" }
  expect = ["run.status == 'failed'"]
  step "plan" { replies = [{ exit_code = 1 }] }
  retry "second" { by = "ann" }
}

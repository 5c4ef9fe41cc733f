test "one" {
  workflow = workflow.featur
  inputs = { ticket = "T-1" }
  expect   = ["run.status == 'succeeded'"]
}

test "one" {
  inputs = { ticket = "T-1" }
  workflows = workflow.feature
  expect    = ["run.status == 'succeeded'"]
}

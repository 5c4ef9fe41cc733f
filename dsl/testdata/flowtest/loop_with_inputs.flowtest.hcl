test "one" {
  loop     = loop.work
  workflow = workflow.asked
  inputs   = { ticket = "T-1" }
  start "a" {}
  expect   = ["loop.done == []"]
}

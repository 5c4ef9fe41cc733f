test "a bug is found and repaired by the agent that took it" {
  workflow = workflow.fix
  inputs   = { title = "the login", worker = "leo" }
  agent "leo" { replies = [{ output = "a wrong cookie" }] }
  expect = [
    "run.status == 'succeeded'",
    "calls.leo[0].task == 'Find the cause: the login'",
    "calls.leo[1].task == 'Repair it: a wrong cookie'",
  ]
}

test "the other workflows give their task to the worker" {
  start "feature" {
    workflow = workflow.feature
    inputs   = { title = "a page", worker = "sam" }
  }

  start "tidy" {
    workflow = workflow.tidy
    inputs   = { worker = "sam" }
    after    = "1m"
  }

  start "document" {
    workflow = workflow.document
    inputs   = { worker = "sam" }
    after    = "2m"
  }

  agent "sam" { replies = [{ output = "done" }] }
  expect = ["len(calls.sam) == 3", "calls.sam[0].task == 'a page'"]
}

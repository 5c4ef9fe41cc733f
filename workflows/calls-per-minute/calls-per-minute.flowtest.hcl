test "call 101 waits for the window, and each worker has a window of its own" {
  inputs = { first = 250, second = 100 }
  agent "first" { replies = [{ output = "ok" }] }
  agent "second" { replies = [{ output = "ok" }] }

  at "59s" { expect = ["len(calls.first) == 100 && len(calls.second) == 100"] }

  expect = [
    "calls.first[99].at < 1 && calls.first[100].at == 60 && calls.first[200].at == 120",
    "calls.second[99].at < 1 && len(calls.second) == 100",
    "len(calls.first) == 250 && elapsed == 120",
  ]
}

test "runs share the window" {
  agent "first" { replies = [{ output = "ok" }] }
  agent "second" { replies = [{ output = "ok" }] }

  start "a" {
    workflow = workflow.calls
    inputs   = { first = 60, second = 0 }
  }

  start "b" {
    workflow = workflow.calls
    inputs   = { first = 60, second = 0 }
    after    = "10s"
  }

  at "59s" { expect = ["len(calls.first) == 100 && runs.b.status == 'waiting'"] }

  expect = ["calls.first[100].at == 60 && len(calls.first) == 120"]
}

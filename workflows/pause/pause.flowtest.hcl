test "a paused worker takes no task for five minutes, and then it does; the others continue" {
  workflow = workflow.team
  agent "worker" { replies = [{ output = "done" }] }

  at "4m59s" { expect = ["map(calls.worker, #.task) == ['task of worker2']"] }

  expect = [
    "map(calls.worker, #.task) == ['task of worker2', 'task of worker1']",
    "calls.worker[1].at == 300",
  ]
}

test "a pause of half a minute holds with a crash anywhere" {
  crash_everywhere = true
  workflow         = workflow.team
  inputs           = { time = "30s" }
  agent "worker" { replies = [{ output = "done" }] }

  expect = ["map(calls.worker, #.task) == ['task of worker2', 'task of worker1'] && calls.worker[1].at == 30"]
}

test "the worker was not paused" {
  workflow = workflow.work
  inputs   = { worker = "worker1", task = "build" }
  agent "worker" { replies = [{ output = "done" }] }

  expect = ["run.outputs.result == 'done' && elapsed == 0"]
}

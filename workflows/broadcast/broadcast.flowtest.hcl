test "each worker that is at work hears of each notice with its next task, the urgent first" {
  agent "worker" { replies = [{ output = "done", takes = "10m" }] }

  start "ann" {
    workflow = workflow.work
    inputs   = { tasks = ["a", "b"] }
  }

  start "bo" {
    workflow = workflow.work
    inputs   = { tasks = ["c", "d"] }
    after    = "1m"
  }

  start "slow" {
    workflow = workflow.announce
    inputs   = { text = "The tests are slow." }
    after    = "2m"
  }

  start "stop" {
    workflow = workflow.announce
    inputs   = { text = "Stop deploying.", priority = "high" }
    after    = "3m"
  }

  expect = [
    "map(calls.worker, #.task) == ['a', 'c', 'b', 'd']",
    "len(calls.worker[0].with.notices) == 0 && len(calls.worker[1].with.notices) == 0",
    "map(calls.worker[2].with.notices, #.text) == ['Stop deploying.', 'The tests are slow.']",
    "map(calls.worker[3].with.notices, #.at) == ['2026-01-05T08:03:00.000Z', '2026-01-05T08:02:00.000Z']",
    "calls.worker[3].with.notices[0].priority == 'high' && map(events, #.data.priority) == ['normal', 'high']",
  ]
}

test "after an hour a notice is old" {
  agent "worker" { replies = [{ output = "done" }] }

  start "slow" { workflow = workflow.announce }

  start "early" {
    workflow = workflow.work
    inputs   = { tasks = ["a"] }
    after    = "59m"
  }

  start "late" {
    workflow = workflow.work
    inputs   = { tasks = ["b"] }
    after    = "61m"
  }

  expect = ["map(calls.worker, len(#.with.notices)) == [1, 0]"]
}

test "two workers hear both notices of a run" {
  agent "worker" { replies = [{ output = "done" }] }
  expect = ["run.status == 'succeeded'", "len(calls.worker) == 4 && all(calls.worker, #.with.notices[0].text == 'Stop deploying.')"]
}

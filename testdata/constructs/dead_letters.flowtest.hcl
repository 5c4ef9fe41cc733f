test "a task that fails three times is a dead letter, the others go on, and a redrive runs it again" {
  crash_everywhere = true

  step "task" {
    replies = [{ exit_code = 0 }]
  }

  step "task[1]" {
    replies = [{ exit_code = 1 }, { exit_code = 1 }, { exit_code = 1 }, { exit_code = 0 }]
  }

  at "30m" {
    expect = [
      "run.status == 'failed'",
      "len(dlq) == 1 && dlq[0].kind == 'run' && dlq[0].node == 'task[1]' && dlq[0].times == 1",
      "len(calls['task[1]']) == 3",
      "node['task[0]'].status == 'succeeded' && node['task[2]'].status == 'succeeded'",
      "len(notifications) == 1 && notifications[0].level == 'emergency' && notifications[0].at < 1",
    ]
  }

  redrive "again" { after = "1h" }

  expect = [
    "runs.again.status == 'succeeded' && runs.again.cause.kind == 'retry' && runs.again.cause.id == runs[0].id",
    "len(calls['task[0]']) == 1",
    "len(dlq) == 0",
    "len(notifications) == 1",
  ]
}

test "a receiver that is down for ten minutes harms no run, and gets its message when it is back" {
  crash_everywhere = true

  step "task" {
    replies = [{ exit_code = 1 }]
  }

  channel "pager" {
    replies = [{ exit_code = 1 }, { exit_code = 1 }, { exit_code = 1 }, { exit_code = 1 }, { exit_code = 1 }, { exit_code = 1 }, { exit_code = 0 }]
  }

  start "first" {}
  start "second" { after = "5m" }
  start "third" { after = "10m" }

  at "9m" {
    expect = [
      "len(notifications) == 0",
      "len(filter(dlq, #.kind == 'notification')) == 1",
      "filter(dlq, #.kind == 'notification')[0].times == 2",
      "runs.first.step.page.status == 'failed' && runs.first.status == 'failed'",
    ]
  }

  redrive "late" {
    of    = "second"
    after = "11m"
  }

  expect = [
    "len(notifications) == 2",
    "notifications[1].run == runs.second.id",
    "len(filter(dlq, #.kind == 'notification')) == 0",
    "runs.third.step.page.output.sent == ['pager']",
  ]
}

test "equal messages of many runs are one, and the next one says how many there were" {
  crash_everywhere = true

  step "task" {
    replies = [{ exit_code = 1 }]
  }

  start "a" {}
  start "b" { after = "1m" }
  start "c" { after = "2m" }
  start "d" { after = "11m" }

  expect = [
    "len(notifications) == 2",
    "runs.b.step.page.output.suppressed == ['pager']",
    "notifications[1].suppressed == 2",
  ]
}
